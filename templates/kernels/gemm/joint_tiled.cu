// joint_tiled: A in registers, B in shared memory, several elements of C per thread.
//
// A thread computes TSZ_COLS elements of one row of C. In each phase it needs TSZ_STRIPS values of A, each of them
// TSZ_COLS times. No other thread needs these values, so they are in the thread's registers. All TSZ_ROWS threads of
// the block need the same TSZ_STRIPS x TSZ_COLS elements of B, so these are in shared memory. All threads of a warp
// read the same 16 bytes of shared memory at once, so there is one read for four multiplications. In `tiled` there is
// more than one read for each multiplication. A phase loads (TSZ_ROWS + TSZ_COLS) * TSZ_STRIPS elements for 2 *
// TSZ_ROWS * TSZ_COLS * TSZ_STRIPS operations.
//
// The cost is registers: with so many per thread, too few threads fit on a multiprocessor to hide the latency of global
// memory. Therefore each phase already loads the values of the next phase.
#include "configuration.h"
#include "device/vector.h"

static_assert(TSZ_COLS % 4 == 0 && TSZ_STRIPS % 4 == 0, "reads are 16 bytes long");
static_assert(TSZ_STRIPS * TSZ_COLS % TSZ_ROWS == 0, "every thread stages as much of B's strip");
static_assert(TSZ_STRIPS * TSZ_COLS <= 1024, "outputs and two runs of A must fit a thread's registers");
static_assert(TRANSPOSE_A == 0 && TRANSPOSE_B == 0, "written for layout nn");

constexpr int SHARE = TSZ_STRIPS * TSZ_COLS / TSZ_ROWS;  // number of elements of B that a thread copies per phase
constexpr int CHUNK = SHARE % 4 == 0 ? 4 : 1;            // number of neighbouring elements per copy

/// Fetches TSZ_STRIPS values of a row of A. If only `count` of them lie inside of A, the others become zeros.
__device__ __forceinline__ void fetch_a(Element (&values)[TSZ_STRIPS], const Element* row, int count, bool aligned) {
    if (aligned && count >= TSZ_STRIPS) {
#pragma unroll
        for (int k = 0; k < TSZ_STRIPS; k += 4) load_four(&values[k], row + k);
    } else {
#pragma unroll
        for (int k = 0; k < TSZ_STRIPS; ++k) values[k] = k < count ? row[k] : 0;
    }
}

/// Fetches the elements of B that this thread copies in one phase. `B` points to the phase's first element. From there,
/// B still has `depth` rows and `columns` columns. Elements beyond them become zeros.
__device__ __forceinline__ void fetch_b(Element (&share)[SHARE], const Element* B, long long ldb, int depth,
                                        int columns, bool aligned) {
#pragma unroll
    for (int n = 0; n < SHARE; n += CHUNK) {
        const int i = threadIdx.x * CHUNK + n * TSZ_ROWS;
        const int k = i / TSZ_COLS;
        const int column = i % TSZ_COLS;
        const Element* from = B + k * ldb + column;
        if (CHUNK == 4 && aligned && k < depth && column + 4 <= columns) {
            load_four(&share[n], from);
        } else {
#pragma unroll
            for (int m = 0; m < CHUNK; ++m) share[n + m] = k < depth && column + m < columns ? from[m] : 0;
        }
    }
}

extern "C" __global__ void __launch_bounds__(TSZ_ROWS)
    joint_tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc) {
    alignas(16) __shared__ Element b_strips[2][TSZ_STRIPS][TSZ_COLS];  // one buffer is read while the other is filled

    const int tiles_across = (N - 1) / TSZ_COLS + 1;
    const int first_row = blockIdx.x / tiles_across * TSZ_ROWS;
    const int first_column = blockIdx.x % tiles_across * TSZ_COLS;
    const int columns = N - first_column;  // number of columns from the tile's first column to the end of C
    const int thread = threadIdx.x;
    const bool in_rows = thread < M - first_row;
    const bool a_aligned = rows_are_aligned(A, lda);
    const bool b_aligned = rows_are_aligned(B, ldb);

    A += first_row * lda + thread * lda;
    B += first_column;
    Element a_next[TSZ_STRIPS];
    Element b_next[SHARE];
    Element sums[TSZ_COLS] = {};
    fetch_a(a_next, A, in_rows ? K : 0, a_aligned);
    fetch_b(b_next, B, ldb, K, columns, b_aligned);
    for (int left = K, buffer = 0; left > 0; left -= TSZ_STRIPS, buffer ^= 1) {
        Element a[TSZ_STRIPS];
#pragma unroll
        for (int k = 0; k < TSZ_STRIPS; ++k) a[k] = a_next[k];
#pragma unroll
        for (int n = 0; n < SHARE; n += CHUNK) {
            const int i = thread * CHUNK + n * TSZ_ROWS;
            Element* to = &b_strips[buffer][i / TSZ_COLS][i % TSZ_COLS];
            if (CHUNK == 4) {
                store_four(to, &b_next[n]);
            } else {
                *to = b_next[n];
            }
        }
        __syncthreads();  // this buffer is complete, and no thread reads the other buffer any more

        A += TSZ_STRIPS;
        B += TSZ_STRIPS * ldb;
        fetch_a(a_next, A, in_rows ? left - TSZ_STRIPS : 0, a_aligned);
        fetch_b(b_next, B, ldb, left - TSZ_STRIPS, columns, b_aligned);
#pragma unroll
        for (int k = 0; k < TSZ_STRIPS; ++k) {
#pragma unroll
            for (int column = 0; column < TSZ_COLS; column += 4) {
                Element b[4];
                load_four(b, &b_strips[buffer][k][column]);
#pragma unroll
                for (int m = 0; m < 4; ++m) sums[column + m] += a[k] * b[m];
            }
        }
    }

    if (!in_rows) return;
    C += first_row * ldc + thread * ldc + first_column;
#pragma unroll
    for (int column = 0; column < TSZ_COLS; ++column) {
        sums[column] *= alpha;
        if (beta != 0 && column < columns) sums[column] += beta * C[column];
    }
    if (columns >= TSZ_COLS && rows_are_aligned(C, ldc)) {
#pragma unroll
        for (int column = 0; column < TSZ_COLS; column += 4) store_four(C + column, &sums[column]);
    } else {
#pragma unroll
        for (int column = 0; column < TSZ_COLS; ++column) {
            if (column < columns) C[column] = sums[column];
        }
    }
}
