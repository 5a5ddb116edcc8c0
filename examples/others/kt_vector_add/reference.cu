__global__ void reference(float*, const float* a, const float* b, int n, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    value[i] = (double)a[i] + b[i];
    magnitude[i] = fabs((double)a[i]) + fabs((double)b[i]);
}
