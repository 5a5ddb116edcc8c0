// The tuned kernel ignores its filter parameter and reads the filter from constant memory. The fourth argument is that
// memory.
__global__ void reference(const float*, const float* input, const float*, const float* filter, double* value,
                          double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int x = i % 4096;
    const int y = i / 4096;
    if (y >= 4096) return;
    double sum = 0;
    double absolute = 0;
    for (int at = 0; at < 17 * 17; ++at) {
        const double product = (double)filter[at] * input[(y + at / 17) * (4096 + 16) + x + at % 17];
        sum += product;
        absolute += fabs(product);
    }
    value[i] = sum;
    magnitude[i] = absolute;
}
