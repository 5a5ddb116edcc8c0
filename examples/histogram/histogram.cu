// histogram: counts how often each byte value occurs. Each block counts in shared memory. A thread counts WORK bytes at
// a time. The source is plain CUDA and includes nothing of smemtune: THREADS, WORK and COPIES are macros.
__global__ void histogram(const unsigned char* data, unsigned* counts, long long n) {
    __shared__ unsigned local[COPIES][256];
    for (int i = threadIdx.x; i < COPIES * 256; i += THREADS) local[i / 256][i % 256] = 0;
    __syncthreads();
    unsigned* mine = local[threadIdx.x % COPIES];
    const long long step = (long long)gridDim.x * THREADS * WORK;
    for (long long first = ((long long)blockIdx.x * THREADS + threadIdx.x) * WORK; first < n; first += step) {
#pragma unroll
        for (int i = 0; i < WORK; ++i) {
            if (first + i < n) atomicAdd(&mine[data[first + i]], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; ++copy) sum += local[copy][i];
        if (sum != 0) atomicAdd(&counts[i], sum);
    }
}
