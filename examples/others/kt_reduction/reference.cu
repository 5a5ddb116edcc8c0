__global__ void reference(const float*, const float* array, int n, double* value, double* magnitude) {
    if (blockIdx.x + threadIdx.x > 0) return;
    *value = *magnitude = 0;
    for (int i = 0; i < n; ++i) {
        *value += array[i];
        *magnitude += fabs((double)array[i]);
    }
}
