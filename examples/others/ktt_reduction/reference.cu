__global__ void reference(const float* in, const float* out, unsigned n, unsigned, unsigned, double* value,
                          double* magnitude) {
    if (blockIdx.x + threadIdx.x > 0) return;
    *value = *out;
    for (unsigned i = 0; i < n; ++i) *value += in[i];
    *magnitude = *value;
}
