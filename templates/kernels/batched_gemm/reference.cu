// C[i] = alpha * op(A[i]) * op(B[i]) + beta * C[i] in FP64.
#include "configuration.h"
#include "gemm/fp64.h"

extern "C" __global__ void __launch_bounds__(256, 2)
    reference(int BATCH, int M, int N, int K, Element alpha, const Element* A, long long lda, long long stride_a,
              const Element* B, long long ldb, long long stride_b, Element beta, Element* C, long long ldc,
              long long stride_c, double* value, double* magnitude) {
    fp64_products(BATCH, M, N, K, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, value, magnitude);
}
