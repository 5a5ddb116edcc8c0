__global__ void reference(int M, int N, int K, const float* a, const float* b, const float*, double* value,
                          double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / M >= N) return;
    double sum = 0;
    double absolute = 0;
    for (int k = 0; k < K; ++k) {
        const double product = (double)a[k * M + i % M] * b[k * N + i / M];
        sum += product;
        absolute += fabs(product);
    }
    value[i] = sum;
    magnitude[i] = absolute;
}
