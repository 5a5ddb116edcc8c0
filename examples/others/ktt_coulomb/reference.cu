__global__ void reference(const float* atoms, const float*, const float*, const float*, const float*, int count,
                          float spacing, int size, const float* energy, double* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / size / size >= size) return;
    value[i] = energy[i];
    for (int atom = 0; atom < count; ++atom) {
        const double x = i % size * (double)spacing - atoms[4 * atom];
        const double y = i / size % size * (double)spacing - atoms[4 * atom + 1];
        const double z = i / size / size * (double)spacing - atoms[4 * atom + 2];
        value[i] += atoms[4 * atom + 3] / sqrt(x * x + y * y + z * z);
    }
}
