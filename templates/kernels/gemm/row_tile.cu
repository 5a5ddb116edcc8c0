// row_tile: rows of A in shared memory, one panel of PANEL_DEPTH columns at a time; B is read from global memory.
//
// Each element of A is read once per block and used by the TILE_WIDTH threads of its row. B is not reused: a thread
// reads an element of B for every 2 operations. So a phase loads TILE_WIDTH * PANEL_DEPTH elements of A, but TILE_WIDTH
// times as many of B. Reusing only one of two operands saves less than half of the loads, so `row_column_tile` reuses
// both operands. A deeper panel needs fewer barriers and more shared memory.
#include "configuration.h"

constexpr int THREADS = TILE_WIDTH * TILE_WIDTH;
static_assert(THREADS <= 1024, "the most that a block can have");
static_assert(PANEL_DEPTH >= TILE_WIDTH, "every thread stages at least one element of the panel");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    row_tile(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
             const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    __shared__ Element a_panel[TILE_WIDTH][PANEL_DEPTH];

    const int tiles_across = (N - 1) / TILE_WIDTH + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_WIDTH;
    const int first_column = blockIdx.x % tiles_across * TILE_WIDTH;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const bool in_rows = ty < M - first_row;
    const bool in_columns = tx < N - first_column;

    A += first_row * lda + ty * lda;
    B += first_column + tx;
    Element sum = 0;
    for (int left = K; left > 0; left -= PANEL_DEPTH) {
        const int depth = min(left, PANEL_DEPTH);
        for (int k = tx; k < depth; k += TILE_WIDTH) a_panel[ty][k] = in_rows ? A[k] : 0;
        A += PANEL_DEPTH;
        __syncthreads();  // the panel is complete

        if (in_columns) {
#pragma unroll 8
            for (int k = 0; k < depth; ++k) {
                sum += a_panel[ty][k] * *B;
                B += ldb;
            }
        }
        __syncthreads();  // no thread reads the panel any more
    }

    if (in_rows && in_columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
