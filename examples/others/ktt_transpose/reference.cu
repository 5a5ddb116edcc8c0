__global__ void reference(const float*, const float* input, int width, int height, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / width >= height) return;
    value[i] = input[i % width * height + i / width];
    magnitude[i] = fabs(value[i]);
}
