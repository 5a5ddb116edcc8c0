// tiled: square tiles of A and of B meet in shared memory.
//
// A block computes a square of C in phases: it stages one tile of A and one of B, every thread one element of each, and
// uses each element TILE_WIDTH times. A phase loads 2 * TILE_WIDTH^2 elements for 2 * TILE_WIDTH^3 operations, so
// global memory is asked for TILE_WIDTH times less than by `naive`; with 16, 512 loads for 8,192 operations. The price
// is two barriers per phase, and a read of shared memory or two for each multiplication: see `joint_tiled`.
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
    Element a = in_rows && tx < K ? *A : 0;  // zeros outside add nothing to the sums
    Element b = in_columns && ty < K ? *B : 0;
    Element sum = 0;
    for (int left = K; left > 0;) {
        a_tile[ty][tx] = a;
        b_tile[ty][tx] = b;
        A += TILE_WIDTH;
        B += TILE_WIDTH * ldb;
        left -= TILE_WIDTH;
        __syncthreads();  // both tiles are complete

        a = in_rows && tx < left ? *A : 0;  // the next phase's, on their way while this one multiplies
        b = in_columns && ty < left ? *B : 0;
#pragma unroll
        for (int k = 0; k < TILE_WIDTH; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
        __syncthreads();  // nobody reads the tiles any more
    }

    if (in_rows && in_columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
