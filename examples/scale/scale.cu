// scale: B = alpha * A, a run of WORK neighbouring elements per thread. The smallest kernel of one's own.
#include "configuration.h"

static_assert(THREADS * WORK <= 512, "more than that leaves multiprocessors idle at small sizes");

extern "C" __global__ void __launch_bounds__(THREADS)
    scale(int M, int N, Element alpha, const Element* __restrict__ A, Element* __restrict__ B) {
    const long long count = (long long)M * N;
    const long long first = (blockIdx.x * (long long)THREADS + threadIdx.x) * WORK;
#pragma unroll
    for (int i = 0; i < WORK; ++i) {
        if (first + i < count) B[first + i] = alpha * A[first + i];
    }
}

// What smemtune verifies every candidate against: in double precision, one thread per output.
extern "C" __global__ void reference(int M, int N, Element alpha, const Element* A, Element*, double* value,
                                     double* magnitude) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)M * N) return;
    value[i] = (double)alpha * A[i];
    magnitude[i] = fabs(value[i]);
}
