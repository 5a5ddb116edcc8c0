// tiled_transpose: transposes a square tile in shared memory, so that global reads and writes both run along rows.
//
// Without shared memory, neighbouring threads would either read or write elements that are a whole row apart: one
// memory transaction per element. Here a block reads TILE_WIDTH rows of A and writes TILE_WIDTH rows of B, and both
// accesses are coalesced. Only shared memory is read along columns. If a row of the tile has a multiple of 32 words, a
// column lies in a single bank, and the 32 reads of a warp are served one after another. With PAD = 1, the elements of
// a column lie in different banks. A thread moves ROWS_PER_THREAD elements, whose loads are under way at the same time.
#include "configuration.h"

constexpr int THREAD_ROWS = TILE_WIDTH / ROWS_PER_THREAD;
constexpr int THREADS = TILE_WIDTH * THREAD_ROWS;
static_assert(TILE_WIDTH % ROWS_PER_THREAD == 0, "every thread moves as many elements");
static_assert(THREADS >= 64, "smaller blocks cannot fill a multiprocessor");

extern "C" __global__ void __launch_bounds__(THREADS)
    tiled_transpose(int M, int N, const Element* __restrict__ A, long long lda, Element* __restrict__ B,
                    long long ldb) {
    __shared__ Element tile[TILE_WIDTH][TILE_WIDTH + PAD];

    const int tiles_across = (N - 1) / TILE_WIDTH + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_WIDTH;  // the tile's first row in A, and first column in B
    const int first_column = blockIdx.x % tiles_across * TILE_WIDTH;
    const int rows = M - first_row;  // number of rows from the tile's first row to the end of A
    const int columns = N - first_column;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    A += first_row * lda + first_column;
#pragma unroll
    for (int n = 0; n < ROWS_PER_THREAD; ++n) {
        const int row = ty + n * THREAD_ROWS;
        if (row < rows && tx < columns) tile[row][tx] = A[row * lda + tx];
    }
    __syncthreads();  // the tile is complete

    B += first_column * ldb + first_row;
#pragma unroll
    for (int n = 0; n < ROWS_PER_THREAD; ++n) {
        const int column = ty + n * THREAD_ROWS;
        if (column < columns && tx < rows) B[column * ldb + tx] = tile[tx][column];
    }
}
