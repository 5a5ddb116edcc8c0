// thread_tiled: each thread computes a tile of C, so that values of both operands are reused in registers.
//
// A thread owns THREAD_M x THREAD_N elements of C. For each step along K it reads THREAD_M values of A and THREAD_N
// values of B from shared memory, and multiplies each value of A by each value of B. At 8 x 8, it reads 16 values for
// 64 products. That is a quarter of a value per product; in `joint_tiled` it is one value per product. A phase loads
// (BLOCK_M + BLOCK_N) * BLOCK_K elements for 2 * BLOCK_M * BLOCK_N * BLOCK_K operations.
//
// A thread reads four neighbouring values at once. The four values of A belong to one step along K, but to four rows.
// The tile of A is therefore transposed in shared memory, so that these values are neighbours. A thread's rows and
// columns form groups of four, with the groups of other threads between them. So neighbouring threads read neighbouring
// banks:
//
//     columns of the tile    0..3   4..7  ...  60..63   64..67  68..71  ...  124..127    (BLOCK_N = 128, THREAD_N = 8)
//     thread (THREADS_N = 16)   0      1          15        0       1             15
//
// The cost is registers: a thread needs up to 128, so a multiprocessor holds 512 threads, a quarter as many as with
// `tiled`. The kernel `warp_tiled` copies tiles to shared memory asynchronously instead of through registers, one or
// more phases ahead. Its warps also compute parts of C that are closer to squares, so a warp reads fewer values.
#include "configuration.h"
#include "device/vector.h"

constexpr int THREADS_M = BLOCK_M / THREAD_M;
constexpr int THREADS_N = BLOCK_N / THREAD_N;
constexpr int THREADS = THREADS_M * THREADS_N;
/// Distance in elements between rows of A's tile in shared memory. The 4 elements of padding spread the elements that a
/// warp writes at once over the banks: a bank gets at most one element if BLOCK_K = 8, and at most two if BLOCK_K = 16.
constexpr int PITCH = BLOCK_M + 4;
static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "whole threads tile a block");
static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0 && BLOCK_K % 4 == 0, "reads are 16 bytes long");
static_assert(THREADS <= 512, "a thread needs up to 128 registers");
static_assert(BLOCK_M * BLOCK_K % (4 * THREADS) == 0 && BLOCK_N * BLOCK_K % (4 * THREADS) == 0,
              "every thread fetches the same number of vectors");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

/// A thread's part of a tile of ROWS x COLUMNS elements, in registers on its way from global to shared memory. The
/// thread fetches four neighbours of a row at a time.
template <int ROWS, int COLUMNS>
struct Share {
    static_assert(4 * THREADS % COLUMNS == 0, "the threads fetch whole rows at once");
    static constexpr int ROWS_AT_ONCE = 4 * THREADS / COLUMNS;  // number of rows that all threads fetch at once
    static constexpr int SIZE = ROWS * COLUMNS / THREADS;
    Element values[SIZE];

    /// row(n) and column(n) return the row and column of value n in the tile.
    static __device__ __forceinline__ int row(int n) { return 4 * threadIdx.x / COLUMNS + n / 4 * ROWS_AT_ONCE; }
    static __device__ __forceinline__ int column(int n) { return 4 * threadIdx.x % COLUMNS + n % 4; }

    /// Fetches the values from global memory. Only `rows` x `columns` elements of the tile lie inside of the
    /// matrix; the others become zeros.
    __device__ __forceinline__ void fetch(const Element* tile, long long stride, int rows, int columns, bool aligned) {
        if (aligned && rows >= ROWS && columns >= COLUMNS) {
#pragma unroll
            for (int n = 0; n < SIZE; n += 4) load_four(&values[n], tile + row(n) * stride + column(n));
        } else {
#pragma unroll
            for (int n = 0; n < SIZE; ++n) {
                const bool exists = row(n) < rows && column(n) < columns;
                values[n] = exists ? tile[row(n) * stride + column(n)] : 0;
            }
        }
    }
};

/// Returns the index, in the tile, of a thread's row i. `threads` threads divide the rows among them. For columns, the
/// function works in the same way.
__device__ __forceinline__ int place(int thread, int i, int threads) { return 4 * (thread + i / 4 * threads) + i % 4; }

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)
    thread_tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                 const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    alignas(16) __shared__ Element a_tile[2][BLOCK_K][PITCH];  // one buffer is read while the other is filled
    alignas(16) __shared__ Element b_tile[2][BLOCK_K][BLOCK_N];

    const int tiles_across = (N - 1) / BLOCK_N + 1;
    const int first_row = blockIdx.x / tiles_across * BLOCK_M;
    const int first_column = blockIdx.x % tiles_across * BLOCK_N;
    const int rows = M - first_row;  // number of rows from the tile's first row to the end of C
    const int columns = N - first_column;
    const int tx = threadIdx.x % THREADS_N;
    const int ty = threadIdx.x / THREADS_N;
    const bool a_aligned = rows_are_aligned(A, lda);
    const bool b_aligned = rows_are_aligned(B, ldb);

    A += first_row * lda;
    B += first_column;
    Share<BLOCK_M, BLOCK_K> a_next;
    Share<BLOCK_K, BLOCK_N> b_next;
    Element sums[THREAD_M][THREAD_N] = {};
    a_next.fetch(A, lda, rows, K, a_aligned);
    b_next.fetch(B, ldb, K, columns, b_aligned);
    for (int left = K, buffer = 0; left > 0; left -= BLOCK_K, buffer ^= 1) {
#pragma unroll
        for (int n = 0; n < a_next.SIZE; ++n) a_tile[buffer][a_next.column(n)][a_next.row(n)] = a_next.values[n];
#pragma unroll
        for (int n = 0; n < b_next.SIZE; n += 4) {
            store_four(&b_tile[buffer][b_next.row(n)][b_next.column(n)], &b_next.values[n]);
        }
        __syncthreads();  // both tiles are complete, and no thread reads the tiles of the other buffer any more

        A += BLOCK_K;
        B += BLOCK_K * ldb;
        a_next.fetch(A, lda, rows, left - BLOCK_K, a_aligned);
        b_next.fetch(B, ldb, left - BLOCK_K, columns, b_aligned);
#pragma unroll
        for (int k = 0; k < BLOCK_K; ++k) {
            Element a[THREAD_M];
            Element b[THREAD_N];
#pragma unroll
            for (int i = 0; i < THREAD_M; i += 4) load_four(&a[i], &a_tile[buffer][k][place(ty, i, THREADS_M)]);
#pragma unroll
            for (int j = 0; j < THREAD_N; j += 4) load_four(&b[j], &b_tile[buffer][k][place(tx, j, THREADS_N)]);
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
#pragma unroll
                for (int i = 0; i < THREAD_M; ++i) sums[i][j] += a[i] * b[j];
            }
        }
    }

    // The 16-byte stores below need consecutive registers. A separate loop multiplies the sums by alpha, so that only
    // the products need consecutive registers. If the sums needed them, the main loop would be slower.
#pragma unroll
    for (int i = 0; i < THREAD_M * THREAD_N; ++i) sums[i / THREAD_N][i % THREAD_N] *= alpha;
    C += first_row * ldc + first_column;
    const bool c_aligned = rows_are_aligned(C, ldc);
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            const int row = place(ty, i, THREADS_M);
            const int column = place(tx, j, THREADS_N);
            const int count = row < rows ? columns - column : 0;  // how many of the four to write; none if negative
            Element* c = C + row * ldc + column;
            Element* four = &sums[i][j];
#pragma unroll
            for (int m = 0; m < 4; ++m) {
                if (beta != 0 && m < count) four[m] += beta * c[m];
            }
            if (c_aligned && count >= 4) {
                store_four(c, four);
            } else {
#pragma unroll
                for (int m = 0; m < 4; ++m) {
                    if (m < count) c[m] = four[m];
                }
            }
        }
    }
}
