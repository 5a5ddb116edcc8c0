// The kernel `naive` with inputs of lower precision. The inputs that OPERANDS selects keep only KEPT_BITS bits of their
// significand: 24 as in f32, 11 as in TF32, or 8 as in BF16.
#include "configuration.h"

union Value {
    float number;
    unsigned bits;
};

__device__ float rounded(float number) {
    constexpr int DROPPED = 24 - KEPT_BITS;
    if (DROPPED == 0) return number;
    Value value;
    value.number = number;
    if (NEAREST) value.bits += (1u << (DROPPED - 1)) - 1 + (value.bits >> DROPPED & 1);  // rounds ties to even
    value.bits = value.bits >> DROPPED << DROPPED;
    return value.number;
}

extern "C" __global__ void rounded_inputs(int M, int N, int K, Element alpha, const Element* __restrict__ A,
                                          long long lda, const Element* __restrict__ B, long long ldb, Element beta,
                                          Element* __restrict__ C, long long ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    Element sum = 0;
    for (int k = 0; k < K; ++k) {
        const Element a = A[row * lda + k];
        const Element b = B[k * ldb + column];
        sum += (OPERANDS & 1 ? rounded(a) : a) * (OPERANDS & 2 ? rounded(b) : b);
    }
    Element* c = C + row * ldc + column;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
