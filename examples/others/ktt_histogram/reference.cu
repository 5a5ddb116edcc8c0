// How often digit d occurs in the part of block b: isums[d][b]. Parts are whole vectors of 4; the last block takes the
// rest.
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
