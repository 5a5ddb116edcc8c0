// rectangular_tiled: tiles of A, B and C that need not be square.
//
// A block computes TILE_ROWS x TILE_COLUMNS elements of C, and loads TILE_DEPTH steps along K per phase. An element of
// A is used by TILE_COLUMNS threads, and an element of B by TILE_ROWS threads. So a phase has (TILE_ROWS +
// TILE_COLUMNS) * TILE_DEPTH loads for 2 * TILE_ROWS * TILE_COLUMNS * TILE_DEPTH operations. Reuse depends only on the
// tile of C, and is highest for a square. The depth does not change reuse: a deeper tile needs fewer barriers and
// more shared memory.
//
// The tiles of A and B do not have the shape of the block, so a thread cannot simply load the element at its own
// position. Instead, the elements of a tile are numbered row by row, and thread t loads elements t, t + THREADS,
// t + 2 * THREADS, ... This divides the loads as evenly as possible.
#include "configuration.h"

constexpr int THREADS = TILE_ROWS * TILE_COLUMNS;
static_assert(THREADS >= 128, "smaller blocks cannot fill a multiprocessor");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    rectangular_tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                      const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C,
                      long long ldc) {
    __shared__ Element a_tile[TILE_ROWS][TILE_DEPTH];
    __shared__ Element b_tile[TILE_DEPTH][TILE_COLUMNS];

    const int tiles_across = (N - 1) / TILE_COLUMNS + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_ROWS;
    const int first_column = blockIdx.x % tiles_across * TILE_COLUMNS;
    const int rows = M - first_row;  // number of rows from the tile's first row to the end of C
    const int columns = N - first_column;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int thread = ty * TILE_COLUMNS + tx;

    A += first_row * lda;
    B += first_column;
    Element sum = 0;
    for (int left = K; left > 0; left -= TILE_DEPTH) {
#pragma unroll
        for (int first = 0; first < TILE_ROWS * TILE_DEPTH; first += THREADS) {
            const int row = (first + thread) / TILE_DEPTH;
            const int k = (first + thread) % TILE_DEPTH;
            const bool exists = row < rows && k < left;
            if (row < TILE_ROWS) a_tile[row][k] = exists ? A[row * lda + k] : 0;  // zeros add nothing to the sums
        }
#pragma unroll
        for (int first = 0; first < TILE_DEPTH * TILE_COLUMNS; first += THREADS) {
            const int k = (first + thread) / TILE_COLUMNS;
            const int column = (first + thread) % TILE_COLUMNS;
            const bool exists = k < left && column < columns;
            if (k < TILE_DEPTH) b_tile[k][column] = exists ? B[k * ldb + column] : 0;
        }
        A += TILE_DEPTH;
        B += TILE_DEPTH * ldb;
        __syncthreads();  // both tiles are complete

#pragma unroll
        for (int k = 0; k < TILE_DEPTH; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
        __syncthreads();  // no thread reads the tiles any more
    }

    if (ty < rows && tx < columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
