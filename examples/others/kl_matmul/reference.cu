__global__ void reference(int n, const float*, const float* A, const float* B, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / n >= n) return;
    double sum = 0;
    double absolute = 0;
    for (int k = 0; k < n; ++k) {
        const double product = (double)A[i / n * n + k] * B[k * n + i % n];
        sum += product;
        absolute += fabs(product);
    }
    value[i] = sum;
    magnitude[i] = absolute;
}
