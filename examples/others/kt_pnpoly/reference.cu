__global__ void reference(const int*, const float2* points, const float2* vertices, const float*, int n, int* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = points[i].x;
    const double y = points[i].y;
    bool inside = false;
    for (int j = 0, k = 599; j < 600; k = j++) {
        const float2 a = vertices[j];
        const float2 b = vertices[k];
        if ((a.y > y) == (b.y > y)) continue;
        inside ^= x < ((double)b.x - a.x) / ((double)b.y - a.y) * (y - a.y) + a.x;
    }
    value[i] = inside;
}
