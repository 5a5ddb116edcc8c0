__global__ void reference(int n, const float*, const float* A, const float* B, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    value[i] = (double)A[i] + B[i];
    magnitude[i] = fabs((double)A[i]) + fabs((double)B[i]);
}
