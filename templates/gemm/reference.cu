// C[M,N] = alpha * op(A) * op(B) + beta * C in FP64, one thread per element: slow and obviously right.
// `magnitude` is the same sum over absolute values: the scale that a kernel's rounding errors are measured by.
// Launched with 256 threads per block, enough blocks in x for one thread per element; both results are dense.
#include "configuration.h"

extern "C" __global__ void __launch_bounds__(256)
    reference(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, long long ldb,
              Element beta, Element* C, long long ldc, double* value, double* magnitude) {
    const long long index = 256LL * blockIdx.x + threadIdx.x;
    const long long row = index / N;
    const long long column = index % N;
    if (row >= M) return;

    double sum = 0;
    double sum_of_magnitudes = 0;
    for (long long k = 0; k < K; ++k) {
        const double a = TRANSPOSE_A ? A[k * lda + row] : A[row * lda + k];
        const double b = TRANSPOSE_B ? B[column * ldb + k] : B[k * ldb + column];
        const double product = a * b;  // exact: two 24-bit significands fit the 53 of a double
        sum += product;
        sum_of_magnitudes += product < 0 ? -product : product;
    }
    const double scale = alpha;
    sum *= scale;
    sum_of_magnitudes *= scale < 0 ? -scale : scale;
    if (beta != 0) {
        const double term = static_cast<double>(beta) * C[row * ldc + column];
        sum += term;
        sum_of_magnitudes += term < 0 ? -term : term;
    }
    value[index] = sum;
    magnitude[index] = sum_of_magnitudes;
}
