// skinny: products with few rows or few columns. Memory bandwidth limits such products, so the kernel reads the large
// operand only once.
//
// A tile of C has all of the few columns (or rows), so no other tile needs the same part of the large operand. There is
// little reuse, so speed depends on how many bytes are on their way at any time. Asynchronous copies bring k-tiles of
// both operands to STAGES stages of shared memory. The copies need no registers, so many bytes can be on their way. The
// elements of a k-tile keep the order that they have in global memory.
//
// Few columns also mean few elements of C, too few for all threads of the GPU. So the threads divide K, in two ways:
//
//     k-steps of a k-tile   the threads of a block form SLICES_K slices, and each in turn takes four k-steps
//     k-tiles               several blocks share a tile of C, if K is long enough and the GPU has room for them
//
// How many blocks share a tile depends on the size of the product. The kernel reads this number from the grid
// (gridDim.y), so one compiled kernel can be used for all sizes.
//
// A thread owns THREAD_M x THREAD_N elements of C, as in `thread_tiled`, and adds up the products of its slice. At the
// end, a block adds up the sums of its slices through shared memory. If several blocks share a tile, each writes its
// sums to the workspace, and the last of these blocks adds them up. The order of the additions is fixed (split_sums.h).
#include "configuration.h"
#include "device/async_copy.h"
#include "device/dependent_launch.h"
#include "device/shared.h"
#include "device/vector.h"
#include "gemm/split_sums.h"

static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "whole threads tile a block");
static_assert(BLOCK_K % (4 * SLICES_K) == 0, "a slice takes four k-steps at a time");
static_assert(STAGES >= 2, "one stage is read while another is filled");

/// The part of one operand in a stage: EXTENT rows of op(A) with BLOCK_K k-steps. For op(B), "row" means a column of
/// op(B). The part consists of lines, each of which is contiguous in memory: along K if LINES_ALONG_K, else along M (or
/// N). ALONG_K tells whether neighbouring k-steps of a row are neighbours in shared memory. The rows are divided among
/// THREADS_ACROSS threads, and each thread owns OWN rows.
template <int EXTENT, int OWN, int THREADS_ACROSS, bool LINES_ALONG_K, bool ALONG_K>
struct Operand {
    static constexpr int LINES = LINES_ALONG_K ? EXTENT : BLOCK_K;
    static constexpr int LENGTH = LINES_ALONG_K ? BLOCK_K : EXTENT;
    static constexpr int PITCH = LINES_ALONG_K ? BLOCK_K + PAD_K : EXTENT;
    /// A thread's rows form groups of WIDTH neighbouring rows. If WIDTH is 4, one load reads a group.
    static constexpr int WIDTH = ALONG_K ? 1 : OWN % 4 == 0 ? 4 : OWN;

    /// Returns the index of the i-th row of thread `thread`. thread_of and own_of are the inverse: they return `thread`
    /// and `i` for a given row.
    static __device__ __forceinline__ int row(int thread, int i) {
        return WIDTH * (thread + i / WIDTH * THREADS_ACROSS) + i % WIDTH;
    }
    static __device__ __forceinline__ int thread_of(int row) { return row / WIDTH % THREADS_ACROSS; }
    static __device__ __forceinline__ int own_of(int row) { return row / WIDTH / THREADS_ACROSS * WIDTH + row % WIDTH; }

    /// Starts copying the operand's part of a stage, from `from` on, VECTOR elements at a time. Only `lines` lines of
    /// `length` elements lie inside of the matrix; all other elements become zeros. The caller ensures that the VECTOR
    /// elements of a copy lie either all inside or all outside. So no copy needs a branch.
    template <int VECTOR>
    static __device__ __forceinline__ void copy(Element* shared, const Element* from, long long stride, int lines,
                                                int length) {
        constexpr int PER_LINE = LENGTH / VECTOR;
        constexpr int UNITS = LINES * PER_LINE;
        constexpr bool SAME_PLACE = THREADS % PER_LINE == 0;  // whether `place` is the same for all copies of a thread
        const int first = threadIdx.x;
#pragma unroll(VECTOR == 4 ? 4 : 1)
        for (int i = 0; i < (UNITS + THREADS - 1) / THREADS; ++i) {
            const int unit = first + i * THREADS;
            const int line = SAME_PLACE ? first / PER_LINE + i * (THREADS / PER_LINE) : unit / PER_LINE;
            const int place = (SAME_PLACE ? first : unit) % PER_LINE * VECTOR;
            if (UNITS % THREADS != 0 && unit >= UNITS) break;
            copy_async<4 * VECTOR>(shared + line * PITCH + place, from + line * stride + place,
                                   line < lines && place < length);
        }
    }

    /// Starts copying k-steps k .. k + BLOCK_K - 1 of EXTENT rows, from row `first` on. The operand has `extent` rows.
    static __device__ __forceinline__ void copy_tile(Element* shared, const Element* matrix, long long stride,
                                                     int first, int extent, int k, int K) {
        const int rows = extent - first;
        const int lines = LINES_ALONG_K ? rows : K - k;
        const int length = LINES_ALONG_K ? K - k : rows;
        const Element* const from = LINES_ALONG_K ? matrix + first * stride + k : matrix + k * stride + first;
        const bool whole = length >= LENGTH || length % 4 == 0;
        if (LENGTH % 4 == 0 && whole && rows_are_aligned(matrix, stride)) {
            copy<LENGTH % 4 == 0 ? 4 : 1>(shared, from, stride, lines, length);
        } else {
            copy<1>(shared, from, stride, lines, length);
        }
    }

    /// Reads the elements of a thread's rows at k-steps k .. k + 3 from shared memory.
    static __device__ __forceinline__ void load(Element (&fragment)[OWN][4], const Element* shared, int thread, int k) {
        if (ALONG_K) {
#pragma unroll
            for (int i = 0; i < OWN; ++i) load_four(fragment[i], shared + row(thread, i) * PITCH + k);
        } else {
#pragma unroll
            for (int step = 0; step < 4; ++step) {
#pragma unroll
                for (int i = 0; i < OWN; i += WIDTH) {
                    const Element* const from = shared + (k + step) * PITCH + row(thread, i);
                    Element values[4];
                    if (WIDTH == 4) {
                        load_four(values, from);
                    } else {
                        for (int j = 0; j < WIDTH; ++j) values[j] = from[j];
                    }
#pragma unroll
                    for (int j = 0; j < WIDTH; ++j) fragment[i + j][step] = values[j];
                }
            }
        }
    }
};

using OperandA = Operand<BLOCK_M, THREAD_M, THREADS_M, TRANSPOSE_A == 0, ALONG_K_A != 0>;
using OperandB = Operand<BLOCK_N, THREAD_N, THREADS_N, TRANSPOSE_B != 0, ALONG_K_B != 0>;

/// Whether neighbouring threads compute neighbouring rows of the tile (true) or neighbouring columns (false). The
/// direction with more threads is chosen.
constexpr bool M_FIRST = THREADS_M >= THREADS_N;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    skinny(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, long long ldb,
           Element beta, Element* __restrict__ C, long long ldc, Element* workspace) {
    Element* const shared = dynamic_shared<Element>();
    const int tiles_across = (N - 1) / BLOCK_N + 1;
    const int tile = blockIdx.x;
    const int split = blockIdx.y;
    const int splits = gridDim.y;
    const int first_row = tile / tiles_across * BLOCK_M;
    const int first_column = tile % tiles_across * BLOCK_N;
    const int slice = threadIdx.x / TILE_THREADS;
    const int tm = M_FIRST ? threadIdx.x % THREADS_M : threadIdx.x % TILE_THREADS / THREADS_N;
    const int tn = M_FIRST ? threadIdx.x % TILE_THREADS / THREADS_M : threadIdx.x % THREADS_N;

    const int k_tiles = (K - 1) / BLOCK_K + 1;
    const int first_k_tile = begin_of_part(k_tiles, split, splits);
    const int end_k_tile = begin_of_part(k_tiles, split + 1, splits);
    const auto start_copies = [&](int k_tile) {  // commits one group, which is empty if `k_tile` is beyond the last one
        Element* const stage = shared + (k_tile - first_k_tile) % STAGES * STAGE_ELEMENTS;
        if (end_k_tile > k_tile) {
            OperandA::copy_tile(stage, A, lda, first_row, M, k_tile * BLOCK_K, K);
            OperandB::copy_tile(stage + OFFSET_B, B, ldb, first_column, N, k_tile * BLOCK_K, K);
        }
        commit_copies();
    };
    Element sums[THREAD_M][THREAD_N] = {};
    wait_for_previous_kernel(min(first_row, first_k_tile));
#pragma unroll 1
    for (int k_tile = first_k_tile - STAGES + 1; end_k_tile > k_tile; ++k_tile) {  // the first rounds only start copies
        if (k_tile >= first_k_tile) {
            wait_for_copies<STAGES - 2>();
            __syncthreads();  // this k-tile is complete, and no thread still reads the stage that is filled next
        }
        start_copies(k_tile + STAGES - 1);
        if (first_k_tile > k_tile) continue;
        const Element* const stage = shared + (k_tile - first_k_tile) % STAGES * STAGE_ELEMENTS;
#pragma unroll 2
        for (int k = 4 * slice; k < BLOCK_K; k += 4 * SLICES_K) {
            Element a[THREAD_M][4];
            Element b[THREAD_N][4];
            OperandA::load(a, stage, tm, k);
            OperandB::load(b, stage + OFFSET_B, tn, k);
#pragma unroll
            for (int step = 0; step < 4; ++step) {
#pragma unroll
                for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
                    for (int j = 0; j < THREAD_N; ++j) sums[i][j] += a[i][step] * b[j][step];
                }
            }
        }
    }

    __syncthreads();  // no thread reads the stages any more
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) shared[(i * THREAD_N + j) * SUMS_PITCH + threadIdx.x] = sums[i][j];
    }
    __syncthreads();  // the sums of all slices are in shared memory
    const auto slice_sum = [&](int slice, int output) {
        const int row = output / BLOCK_N;
        const int column = output % BLOCK_N;
        const int m = OperandA::thread_of(row);
        const int n = OperandB::thread_of(column);
        const int accumulator = OperandA::own_of(row) * THREAD_N + OperandB::own_of(column);
        return shared[accumulator * SUMS_PITCH + slice * TILE_THREADS +
                      (M_FIRST ? n * THREADS_M + m : m * THREADS_N + n)];
    };
    const auto write = [&](int output, Element total) {
        const int row = first_row + output / BLOCK_N;
        const int column = first_column + output % BLOCK_N;
        if (row >= M || column >= N) return;
        Element* const to = C + row * ldc + column;
        *to = beta == 0 ? alpha * total : alpha * total + beta * *to;
    };
    add_up_blocks<THREADS, OUTPUTS, SLICES_K>(shared + SUMS, workspace, tile, split, splits, slice_sum, write);
}
