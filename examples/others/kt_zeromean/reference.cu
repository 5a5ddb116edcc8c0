// Subtracts two means from each column: the mean of the even rows from the even rows, and the mean of the odd rows from
// the odd rows.
__global__ void reference(int h, int w, const float* input, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / w >= h) return;
    const int parity = i / w % 2;
    double sum = 0;
    double absolute = 0;
    for (int row = parity; row < h; row += 2) {
        sum += input[row * w + i % w];
        absolute += fabs((double)input[row * w + i % w]);
    }
    const int count = (h + 1 - parity) / 2;
    value[i] = input[i] - sum / count;
    magnitude[i] = fabs((double)input[i]) + absolute / count;
}
