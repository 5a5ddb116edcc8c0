// tiled: square tiles of A and B in shared memory.
//
// A block computes a square tile of C in phases. In each phase, it copies one tile of A and one of B to shared memory.
// Each thread copies one element of each tile, and each element is used TILE_WIDTH times. So a phase loads 2 *
// TILE_WIDTH^2 elements for 2 * TILE_WIDTH^3 operations: TILE_WIDTH times fewer loads from global memory than in
// `naive`. With TILE_WIDTH = 16, a phase has 512 loads for 8,192 operations. The costs are two barriers per phase, and
// more than one read of shared memory for each multiplication. `joint_tiled` needs fewer of both.
#include "configuration.h"

constexpr int THREADS = TILE_WIDTH * TILE_WIDTH;
static_assert(THREADS <= 1024, "one thread computes one element of the tile");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
          const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    __shared__ Element a_tile[TILE_WIDTH][TILE_WIDTH];
    __shared__ Element b_tile[TILE_WIDTH][TILE_WIDTH];

    const int tiles_across = (N - 1) / TILE_WIDTH + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_WIDTH;
    const int first_column = blockIdx.x % tiles_across * TILE_WIDTH;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const bool in_rows = ty < M - first_row;
    const bool in_columns = tx < N - first_column;

    A += first_row * lda + ty * lda + tx;
    B += ty * ldb + first_column + tx;
    Element a = in_rows && tx < K ? *A : 0;  // zeros beyond the edges add nothing to the sums
    Element b = in_columns && ty < K ? *B : 0;
    Element sum = 0;
    for (int left = K; left > 0;) {
        a_tile[ty][tx] = a;
        b_tile[ty][tx] = b;
        A += TILE_WIDTH;
        B += TILE_WIDTH * ldb;
        left -= TILE_WIDTH;
        __syncthreads();  // both tiles are complete

        a = in_rows && tx < left ? *A : 0;  // for the next phase: loaded while this phase multiplies
        b = in_columns && ty < left ? *B : 0;
#pragma unroll
        for (int k = 0; k < TILE_WIDTH; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
        __syncthreads();  // no thread reads the tiles any more
    }

    if (in_rows && in_columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
