__global__ void reference(const float*, const int* rows, const int* cols, const float* values, const float* x,
                          int nrows, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nrows) return;
    double sum = 0;
    double absolute = 0;
    for (int at = rows[i]; at < rows[i + 1]; ++at) {
        const double product = (double)values[at] * x[cols[at]];
        sum += product;
        absolute += fabs(product);
    }
    value[i] = sum;
    magnitude[i] = absolute;
}
