// B[N,M] = A[M,N]^T, one thread per element of B: obviously right.
// Launched with 256 threads per block, enough blocks in x for one thread per element; both results are dense.
#include "configuration.h"

extern "C" __global__ void __launch_bounds__(256)
    reference(int M, int N, const Element* A, long long lda, Element*, long long, double* value, double* magnitude) {
    const long long index = 256LL * blockIdx.x + threadIdx.x;
    const long long row = index / M;
    const long long column = index % M;
    if (row >= N) return;
    const double element = A[column * lda + row];
    value[index] = element;
    magnitude[index] = element < 0 ? -element : element;
}
