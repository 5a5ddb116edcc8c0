// C[M,N] = alpha * op(A) * op(B) + beta * C in FP64: a batch of one.
#include "configuration.h"
#include "gemm/fp64.h"

extern "C" __global__ void __launch_bounds__(256, 2)
    reference(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, long long ldb,
              Element beta, Element* C, long long ldc, double* value, double* magnitude) {
    fp64_products(1, M, N, K, alpha, A, lda, 0, B, ldb, 0, beta, C, ldc, 0, value, magnitude);
}
