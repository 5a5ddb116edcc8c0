// Products of matrices in FP64, what every kernel of theirs is measured by: one, or a batch of them.
#pragma once

#include "configuration.h"  // Element, TRANSPOSE_A, TRANSPOSE_B

// C[i] = alpha * op(A[i]) * op(B[i]) + beta * C[i] for every i < count, matrix i `stride_*` elements times i behind the
// first. The products of each element are added in ascending order of k; `magnitude` is the same sum over absolute
// values: the scale that a kernel's rounding errors are measured by. Both results are dense. For 256 threads per block
// and any number of blocks in x, which take 64 x 64 tiles in turn. The tiles save time alone: what is added up, and in
// what order, is that of one thread per element. Loops are unrolled as far as the device needs and no further: a run
// cannot begin before this is compiled.
__device__ __forceinline__ void fp64_products(int count, int M, int N, int K, Element alpha, const Element* A,
                                              long long lda, long long stride_a, const Element* B, long long ldb,
                                              long long stride_b, Element beta, const Element* C, long long ldc,
                                              long long stride_c, double* value, double* magnitude) {
    // Within the function: a kernel's parameters, in configuration.h, may have these names.
    constexpr int TILE = 64, DEPTH = 16, THREADS = 256;
    constexpr int SIDE = 16;           // the threads of a block are SIDE x SIDE,
    constexpr int EACH = TILE / SIDE;  // and each computes EACH x EACH elements, SIDE rows and columns apart
    static_assert(SIDE * SIDE == THREADS, "every thread has its elements");
    __shared__ double a_tile[DEPTH][TILE + 1];  // one more skews the columns across the banks
    __shared__ double b_tile[DEPTH][TILE + 1];
    const int thread = threadIdx.x;
    const int thread_row = thread / SIDE, thread_column = thread % SIDE;
    const long long tiles_across = (N + TILE - 1LL) / TILE;
    const long long tiles = (M + TILE - 1LL) / TILE * tiles_across;  // of one matrix

    for (long long work = blockIdx.x; work < count * tiles; work += gridDim.x) {
        const long long matrix = work / tiles, tile = work % tiles;
        const Element* a_data = A + matrix * stride_a;
        const Element* b_data = B + matrix * stride_b;
        const Element* c_data = C + matrix * stride_c;
        const long long first_row = tile / tiles_across * TILE;
        const long long first_column = tile % tiles_across * TILE;
        double sum[EACH][EACH] = {};
        double sum_of_magnitudes[EACH][EACH] = {};
        for (long long first_k = 0; first_k < K; first_k += DEPTH) {
            // Neighbouring threads read neighbouring elements, whichever way a matrix is stored. Beyond the edges there
            // are zeros, which add nothing.
#pragma unroll 2
            for (int n = 0; n < TILE * DEPTH / THREADS; ++n) {
                const int i = thread + n * THREADS;
                const int a_depth = TRANSPOSE_A ? i / TILE : i % DEPTH, a_side = TRANSPOSE_A ? i % TILE : i / DEPTH;
                const int b_depth = TRANSPOSE_B ? i % DEPTH : i / TILE, b_side = TRANSPOSE_B ? i / DEPTH : i % TILE;
                const long long a_k = first_k + a_depth, row = first_row + a_side;
                const long long b_k = first_k + b_depth, column = first_column + b_side;
                // Read from somewhere in any case: without branches, several reads are under way at once.
                const bool a_inside = a_k < K && row < M, b_inside = b_k < K && column < N;
                const double a = a_data[!a_inside ? 0 : TRANSPOSE_A ? a_k * lda + row : row * lda + a_k];
                const double b = b_data[!b_inside ? 0 : TRANSPOSE_B ? column * ldb + b_k : b_k * ldb + column];
                a_tile[a_depth][a_side] = a_inside ? a : 0;
                b_tile[b_depth][b_side] = b_inside ? b : 0;
            }
            __syncthreads();
#pragma unroll 2
            for (int depth = 0; depth < DEPTH; ++depth) {
                double a[EACH], b[EACH];
                for (int i = 0; i < EACH; ++i) {
                    a[i] = a_tile[depth][thread_row + i * SIDE];
                    b[i] = b_tile[depth][thread_column + i * SIDE];
                }
                for (int i = 0; i < EACH; ++i) {
                    for (int j = 0; j < EACH; ++j) {
                        // Exact products: two 24-bit significands fit the 53 of a double.
                        sum[i][j] += a[i] * b[j];
                        sum_of_magnitudes[i][j] += fabs(a[i]) * fabs(b[j]);
                    }
                }
            }
            __syncthreads();  // before the next products overwrite these
        }
        // Copies, which a loop may index that is not unrolled.
        double sums[EACH * EACH], magnitudes[EACH * EACH];
        for (int i = 0; i < EACH * EACH; ++i) {
            sums[i] = sum[i / EACH][i % EACH];
            magnitudes[i] = sum_of_magnitudes[i / EACH][i % EACH];
        }
#pragma unroll 1
        for (int i = 0; i < EACH * EACH; ++i) {
            const long long row = first_row + thread_row + i / EACH * SIDE;
            const long long column = first_column + thread_column + i % EACH * SIDE;
            if (row >= M || column >= N) continue;
            const double term = beta == 0 ? 0.0 : static_cast<double>(beta) * c_data[row * ldc + column];
            const double scale = alpha;
            const long long element = (matrix * M + row) * N + column;
            value[element] = scale * sums[i] + term;
            magnitude[element] = fabs(scale) * magnitudes[i] + fabs(term);
        }
    }
}
