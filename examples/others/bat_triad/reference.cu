__global__ void reference(const float* A, const float* B, const float*, float s, int n, double* value,
                          double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    value[i] = A[i] + (double)s * B[i];
    magnitude[i] = fabs((double)A[i]) + fabs((double)s * B[i]);
}
