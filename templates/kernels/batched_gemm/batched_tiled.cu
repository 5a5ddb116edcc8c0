// batched_tiled: square tiles of A and B in shared memory, for many products at once.
//
// The kernel works like `tiled`, but computes many products, in every layout. blockIdx.x selects the tile of C, and
// blockIdx.y selects the product. So a batch of small products fills a GPU, even if a single product has too few tiles
// to fill it. gridDim.y can be 65,535 at most. If a batch has more products, a block computes products blockIdx.y,
// blockIdx.y + gridDim.y, blockIdx.y + 2 * gridDim.y, ...
//
// Neighbouring threads read neighbouring elements in every layout. If A is transposed, threadIdx.x selects the row and
// threadIdx.y selects k. If B is transposed, threadIdx.x selects k and threadIdx.y selects the column. In both cases,
// neighbouring threads write a column of the tile in shared memory. One extra column per tile puts the elements of a
// column into different banks.
#include "configuration.h"

constexpr int THREADS = TILE_WIDTH * TILE_WIDTH;
static_assert(THREADS <= 1024, "one thread computes one element of the tile");

extern "C" __global__ void __launch_bounds__(THREADS)
    batched_tiled(int BATCH, int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                  long long stride_a, const Element* __restrict__ B, long long ldb, long long stride_b, Element beta,
                  Element* __restrict__ C, long long ldc, long long stride_c) {
    __shared__ Element a_tile[TILE_WIDTH][TILE_WIDTH + 1];  // indices: row, k
    __shared__ Element b_tile[TILE_WIDTH][TILE_WIDTH + 1];  // indices: k, column

    const int tiles_across = (N - 1) / TILE_WIDTH + 1;
    const int first_row = blockIdx.x / tiles_across * TILE_WIDTH;
    const int first_column = blockIdx.x % tiles_across * TILE_WIDTH;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    // In each phase, this thread loads one element of A and one of B. In the tiles, these elements have the indices
    // (a_row, a_k) and (b_k, b_column).
    const int a_row = TRANSPOSE_A ? tx : ty;
    const int a_k = TRANSPOSE_A ? ty : tx;
    const int b_k = TRANSPOSE_B ? tx : ty;
    const int b_column = TRANSPOSE_B ? ty : tx;
    const bool in_a = a_row < M - first_row;
    const bool in_b = b_column < N - first_column;
    const bool in_c = ty < M - first_row && tx < N - first_column;
    A += TRANSPOSE_A ? a_k * lda + first_row + a_row : first_row * lda + a_row * lda + a_k;
    B += TRANSPOSE_B ? first_column * ldb + b_column * ldb + b_k : b_k * ldb + first_column + b_column;
    C += first_row * ldc + ty * ldc + first_column + tx;

    for (long long matrix = blockIdx.y; matrix < BATCH; matrix += gridDim.y) {
        const Element* a = A + matrix * stride_a;
        const Element* b = B + matrix * stride_b;
        Element sum = 0;
        for (int left = K; left > 0; left -= TILE_WIDTH) {
            a_tile[a_row][a_k] = in_a && a_k < left ? *a : 0;  // zeros beyond the edges add nothing to the sums
            b_tile[b_k][b_column] = in_b && b_k < left ? *b : 0;
            a += TRANSPOSE_A ? TILE_WIDTH * lda : TILE_WIDTH;
            b += TRANSPOSE_B ? TILE_WIDTH : TILE_WIDTH * ldb;
            __syncthreads();  // both tiles are complete
#pragma unroll
            for (int k = 0; k < TILE_WIDTH; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
            __syncthreads();  // no thread reads the tiles any more
        }
        if (in_c) {
            Element* c = C + matrix * stride_c;
            *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
        }
    }
}
