// The tuned kernel does not write the border of x_new, so the border's expected values are its old ones.
__global__ void reference(const float* x_new, const float* x_old, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int x = i % 4096;
    const int y = i / 4096;
    if (y >= 2048) return;
    value[i] = x_new[i];
    magnitude[i] = fabs(value[i]);
    if (x == 0 || x == 4095 || y == 0 || y == 2047) return;
    const int neighbours[] = {i, i - 1, i + 1, i + 4096, i - 4096};
    value[i] = magnitude[i] = 0;
    for (const int at : neighbours) {
        value[i] += x_old[at] / 5.0;
        magnitude[i] += fabs(x_old[at] / 5.0);
    }
}
