// naive: one thread per element of C. Each thread reads both operands from global memory.
//
// The kernel does not try to reuse anything. A thread reads 2 elements for every 2 operations, so a product of n x n
// matrices reads 2 n^3 elements. Reuse happens only in the caches, so the shape of the block matters: threads in a row
// of the block read the same element of A (one broadcast) and neighbouring elements of B (one coalesced access).
// Threads in a column of the block read the same column of B.
#include "configuration.h"

constexpr int THREADS = BLOCK_X * BLOCK_Y;
static_assert(THREADS >= 64, "smaller blocks cannot fill a multiprocessor");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    naive(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
          const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    const int tiles_across = (N - 1) / BLOCK_X + 1;
    const int first_row = blockIdx.x / tiles_across * BLOCK_Y;
    const int first_column = blockIdx.x % tiles_across * BLOCK_X;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    if (ty >= M - first_row || tx >= N - first_column) return;

    A += first_row * lda + ty * lda;
    B += first_column + tx;
    Element sum = 0;
    // Each address is computed from k. If a pointer were advanced instead, each address would wait for the previous
    // address.
#pragma unroll 16
    for (int k = 0; k < K; ++k) sum += A[k] * B[k * ldb];

    Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
