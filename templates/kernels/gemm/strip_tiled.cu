// strip_tiled: strips instead of tiles. A strip is TILE_SIZE elements of a column of A, or of a row of B.
//
// Strips allow the same reuse as the tiles of `tiled`: each loaded element is used by TILE_SIZE threads. A phase of
// STRIPS strips loads 2 * TILE_SIZE * STRIPS elements for 2 * TILE_SIZE^2 * STRIPS operations. The kernel needs
// TILE_SIZE / STRIPS times less shared memory than `tiled`, but TILE_SIZE / STRIPS times as many barriers. There are
// two other costs. If STRIPS is small, most threads load nothing, because only STRIPS columns of threads load from A,
// and only STRIPS rows of threads load from B. Also, a phase reads only STRIPS neighbouring elements of each row of A,
// which is a short access.
#include "configuration.h"

constexpr int THREADS = TILE_SIZE * TILE_SIZE;
static_assert(THREADS <= 1024, "the most that a block can have");
static_assert(STRIPS <= TILE_SIZE, "a thread loads at most one element of A and one of B");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

extern "C" __global__ void __launch_bounds__(THREADS)
    strip_tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    __shared__ Element a_strips[TILE_SIZE][STRIPS];
    __shared__ Element b_strips[STRIPS][TILE_SIZE];

    const int tiles_across = (N - 1) / TILE_SIZE + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_SIZE;
    const int first_column = blockIdx.x % tiles_across * TILE_SIZE;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const bool in_rows = ty < M - first_row;
    const bool in_columns = tx < N - first_column;

    A += first_row * lda + ty * lda + tx;
    B += ty * ldb + first_column + tx;
    Element sum = 0;
    for (int left = K; left > 0; left -= STRIPS) {
        if (tx < STRIPS) a_strips[ty][tx] = in_rows && tx < left ? *A : 0;  // zeros beyond the edges change no sum
        if (ty < STRIPS) b_strips[ty][tx] = in_columns && ty < left ? *B : 0;
        A += STRIPS;
        B += STRIPS * ldb;
        __syncthreads();  // the strips are complete

#pragma unroll
        for (int k = 0; k < STRIPS; ++k) sum += a_strips[ty][k] * b_strips[k][tx];
        __syncthreads();  // no thread reads the strips any more
    }

    if (in_rows && in_columns) {
        Element* c = C + first_row * ldc + ty * ldc + first_column + tx;
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
