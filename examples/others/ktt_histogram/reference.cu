// isums[d][b] is how often digit d occurs in the part of the input that block b counts. The length of a part is a
// multiple of 4, and the last block also counts the remaining elements.
__global__ void reference(const unsigned* in, const unsigned*, int n, int shift, unsigned* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * 64) return;
    const int part = n / 4 / 64 * 4;
    const int begin = i % 64 * part;
    const int end = i % 64 == 63 ? n : begin + part;
    unsigned count = 0;
    for (int at = begin; at < end; ++at) count += (in[at] >> shift & 15) == i / 64;
    value[i] = count;
}
