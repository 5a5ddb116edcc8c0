// scale: B = alpha * A. Each thread computes WORK neighbouring elements. This is the smallest example of a user's own
// kernel.
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

// smemtune compares every candidate's result with this kernel's, which computes in double precision, one thread per
// output.
extern "C" __global__ void reference(int M, int N, Element alpha, const Element* A, Element*, double* value,
                                     double* magnitude) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)M * N) return;
    value[i] = (double)alpha * A[i];
    magnitude[i] = fabs(value[i]);
}
