// row_column_tile: panels of rows of A and of columns of B, as deep as shared memory allows.
//
// Both operands are reused: an element of A by the BLOCK_COLUMNS threads of its row, an element of B by the BLOCK_ROWS
// threads of its column. So a phase loads (BLOCK_ROWS + BLOCK_COLUMNS) * PANEL_DEPTH elements for 2 * BLOCK_ROWS *
// BLOCK_COLUMNS * PANEL_DEPTH operations. The number of loads per operation does not depend on the depth: a deep panel
// saves barriers, not loads. A deep panel also takes shared memory (up to 227 KiB per block on Hopper, as dynamic
// shared memory). Then fewer blocks fit on a multiprocessor, and they hide less latency. `tiled` therefore uses shallow
// tiles.
#include "configuration.h"
#include "device/shared.h"

constexpr int THREADS = BLOCK_ROWS * BLOCK_COLUMNS;
static_assert(THREADS <= 1024, "the most that a block can have");
static_assert(PANEL_DEPTH % 4 == 0, "rows of the panel start on 16-byte boundaries");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    row_column_tile(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                    const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C,
                    long long ldc) {
    Element* a_panel = dynamic_shared<Element>();           // [BLOCK_ROWS][PANEL_DEPTH]
    Element* b_panel = a_panel + BLOCK_ROWS * PANEL_DEPTH;  // [PANEL_DEPTH][BLOCK_COLUMNS]

    const int tiles_across = (N - 1) / BLOCK_COLUMNS + 1;
    const int first_row = blockIdx.x / tiles_across * BLOCK_ROWS;
    const int first_column = blockIdx.x % tiles_across * BLOCK_COLUMNS;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const bool in_rows = ty < M - first_row;
    const bool in_columns = tx < N - first_column;

    A += first_row * lda + ty * lda;
    B = B + first_column + tx;
    Element sum = 0;
    for (int left = K; left > 0; left -= PANEL_DEPTH) {
        const int depth = min(left, PANEL_DEPTH);
#pragma unroll 2
        for (int k = tx; k < depth; k += BLOCK_COLUMNS) a_panel[ty * PANEL_DEPTH + k] = in_rows ? A[k] : 0;
#pragma unroll 2
        for (int k = ty; k < depth; k += BLOCK_ROWS) b_panel[k * BLOCK_COLUMNS + tx] = in_columns ? B[k * ldb] : 0;
        A += PANEL_DEPTH;
        B += PANEL_DEPTH * ldb;
        __syncthreads();  // both panels are complete

#pragma unroll 16
        for (int k = 0; k < depth; ++k) sum += a_panel[ty * PANEL_DEPTH + k] * b_panel[k * BLOCK_COLUMNS + tx];
        __syncthreads();  // no thread reads the panels any more
    }

    if (in_rows && in_columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
