// skinny: for products with few rows or few columns, which are bound by memory: each operand is read once.
//
// A tile of C has all of the few columns (or rows), so no other tile needs the same part of the large operand. Little
// can be reused; what counts is that enough bytes are on their way at any time. So asynchronous copies bring k-tiles of
// both operands, as they lie in memory, into STAGES stages of shared memory: no register waits for them.
//
// Few columns also mean few elements of C, too few for all threads. So threads divide K three times over:
//
//     k-steps of a k-tile   SLICES_K slices of a block's threads take four k-steps at a time in turn
//     k-tiles               SPLIT_K blocks take their share, one after another
//
// A thread owns THREAD_M x THREAD_N elements of C, as in `thread_tiled`, and sums up what belongs to its slice. At the
// end a block adds up its slices through shared memory, and the last of the blocks that share a tile adds up their
// sums through the workspace, always in the same order.
#include "configuration.h"
#include "device/async_copy.h"
#include "device/last_block.h"
#include "device/shared.h"
#include "device/vector.h"

static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "whole threads tile a block");
static_assert(BLOCK_K % (4 * SLICES_K) == 0, "a slice takes four k-steps at a time");
static_assert(STAGES >= 2, "one stage is read while another is filled");

/// As copy_async, and with PREFETCH a copy of 16 bytes asks the L2 cache to fetch the 256 bytes around them.
/// Neighbouring blocks want the rest of them soon, and the memory delivers longer pieces faster.
template <int bytes>
__device__ __forceinline__ void start_copy(Element* to, const Element* from, bool wanted) {
#ifndef SMEMTUNE_COPIES_AT_ONCE
    if (PREFETCH != 0 && bytes == 16) {
        const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(wanted ? 16 : 0)
                     : "memory");
        return;
    }
#endif
    copy_async<bytes>(to, from, wanted);
}

/// The part of one operand in a stage: EXTENT rows of op(A), or columns of op(B), and BLOCK_K k-steps. A line is what
/// lies side by side in memory: elements along K, or else along the rows (columns). THREADS_ACROSS threads own OWN of
/// the EXTENT rows each.
template <int EXTENT, int OWN, int THREADS_ACROSS, bool LINES_ALONG_K, bool ALONG_K>
struct Operand {
    static constexpr int LINES = LINES_ALONG_K ? EXTENT : BLOCK_K;
    static constexpr int LENGTH = LINES_ALONG_K ? BLOCK_K : EXTENT;
    static constexpr int PITCH = LINES_ALONG_K ? BLOCK_K + PAD_K : EXTENT;
    /// Neighbouring rows of a thread: as many as it can read at once.
    static constexpr int WIDTH = ALONG_K ? 1 : OWN % 4 == 0 ? 4 : OWN;

    /// The row of a thread's i-th element, and the other way round.
    static __device__ __forceinline__ int row(int thread, int i) {
        return WIDTH * (thread + i / WIDTH * THREADS_ACROSS) + i % WIDTH;
    }
    static __device__ __forceinline__ int thread_of(int row) { return row / WIDTH % THREADS_ACROSS; }
    static __device__ __forceinline__ int own_of(int row) { return row / WIDTH / THREADS_ACROSS * WIDTH + row % WIDTH; }

    /// Starts copying what begins at `from`, VECTOR elements at a time. `lines` x `length` elements exist; zeros take
    /// the place of others.
    template <int VECTOR>
    static __device__ __forceinline__ void copy(Element* shared, const Element* from, long long stride, int lines,
                                                int length) {
        constexpr int UNITS = LINES * LENGTH / VECTOR;
#pragma unroll 4
        for (int unit = threadIdx.x; unit < UNITS; unit += THREADS) {
            const int line = unit / (LENGTH / VECTOR);
            const int place = unit % (LENGTH / VECTOR) * VECTOR;
            const int count = line < lines ? length - place : 0;
            Element* const to = shared + line * PITCH + place;
            const Element* const source = from + line * stride + place;
            if (count >= VECTOR || count <= 0) {
                start_copy<4 * VECTOR>(to, source, count > 0);
            } else {
                for (int i = 0; i < VECTOR; ++i) copy_async<4>(to + i, source + i, i < count);
            }
        }
    }

    /// Starts copying k-steps k .. k + BLOCK_K - 1 of the rows from `first` on.
    static __device__ __forceinline__ void copy_tile(Element* shared, const Element* matrix, long long stride,
                                                     int first, int extent, int k, int K) {
        const int rows = extent - first;
        const int lines = LINES_ALONG_K ? rows : K - k;
        const int length = LINES_ALONG_K ? K - k : rows;
        const Element* const from = LINES_ALONG_K ? matrix + first * stride + k : matrix + k * stride + first;
        if (LENGTH % 4 == 0 && rows_are_aligned(matrix, stride)) {
            copy<LENGTH % 4 == 0 ? 4 : 1>(shared, from, stride, lines, length);
        } else {
            copy<1>(shared, from, stride, lines, length);
        }
    }

    /// Reads a thread's elements of k-steps k .. k + 3.
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

/// Threads beside one another lie along the longer side of the tile.
constexpr bool M_FIRST = THREADS_M >= THREADS_N;

/// Adds up what `load(source, output)` gives for source = 0 .. sources - 1 and passes the total of each output of the
/// tile to `store(output, total)`. Spare threads form groups that divide the sources; `scratch` holds THREADS elements.
template <class Load, class Store>
__device__ __forceinline__ void add_up(Element* scratch, int sources, const Load& load, const Store& store) {
    constexpr int GROUPS = THREADS / OUTPUTS > 1 ? THREADS / OUTPUTS : 1;
    constexpr int AT_ONCE = 16;  // loads on their way
    const int group = threadIdx.x / OUTPUTS;
    if (GROUPS > 1 && group >= GROUPS) sources = 0;
    for (int output = GROUPS > 1 ? threadIdx.x % OUTPUTS : threadIdx.x; output < OUTPUTS; output += THREADS) {
        Element total = 0;
        for (int source = GROUPS > 1 ? group : 0; source < sources; source += AT_ONCE * GROUPS) {
            Element values[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                values[i] = source + i * GROUPS < sources ? load(source + i * GROUPS, output) : 0;
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) total += values[i];
        }
        if (GROUPS == 1) {
            store(output, total);
        } else {
            scratch[threadIdx.x] = total;
        }
    }
    if (GROUPS == 1) return;
    __syncthreads();  // the totals of all groups are there
    if (threadIdx.x < OUTPUTS) {
        Element total = 0;
#pragma unroll
        for (int i = 0; i < GROUPS; ++i) total += scratch[i * OUTPUTS + threadIdx.x];
        store(threadIdx.x, total);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    skinny(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
           const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc,
           Element* workspace) {
    Element* const shared = dynamic_shared<Element>();
    const int tiles_across = (N - 1) / BLOCK_N + 1;
    const int tile = blockIdx.x / SPLIT_K;
    const int split = blockIdx.x % SPLIT_K;
    const int first_row = tile / tiles_across * BLOCK_M;
    const int first_column = tile % tiles_across * BLOCK_N;
    const int slice = threadIdx.x / TILE_THREADS;
    const int tm = M_FIRST ? threadIdx.x % THREADS_M : threadIdx.x % TILE_THREADS / THREADS_N;
    const int tn = M_FIRST ? threadIdx.x % TILE_THREADS / THREADS_M : threadIdx.x % THREADS_N;

    const int k_tiles = (K - 1) / BLOCK_K + 1;
    const int first_k_tile = static_cast<int>(static_cast<long long>(k_tiles) * split / SPLIT_K);
    const int end_k_tile = static_cast<int>(static_cast<long long>(k_tiles) * (split + 1) / SPLIT_K);
    const auto start_copies = [&](int k_tile) {  // one group, empty behind the last k-tile
        Element* const stage = shared + (k_tile - first_k_tile) % STAGES * STAGE_ELEMENTS;
        if (end_k_tile > k_tile) {
            OperandA::copy_tile(stage, A, lda, first_row, M, k_tile * BLOCK_K, K);
            OperandB::copy_tile(stage + OFFSET_B, B, ldb, first_column, N, k_tile * BLOCK_K, K);
        }
        commit_copies();
    };
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i) start_copies(first_k_tile + i);
    Element sums[THREAD_M][THREAD_N] = {};
#pragma unroll 1
    for (int k_tile = first_k_tile; k_tile < end_k_tile; ++k_tile) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();  // the k-tile is complete, and nobody still reads the stage that is filled next
        start_copies(k_tile + STAGES - 1);
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

    __syncthreads();  // nobody still reads the stages
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) shared[(i * THREAD_N + j) * SUMS_PITCH + threadIdx.x] = sums[i][j];
    }
    __syncthreads();  // the sums of all slices are there
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
    if (SPLIT_K == 1) {
        add_up(shared + SUMS, SLICES_K, slice_sum, write);
        return;
    }
    Element* const parts = workspace + static_cast<long long>(tile) * (SPLIT_K * OUTPUTS + 1);
    add_up(shared + SUMS, SLICES_K, slice_sum,
           [&](int output, Element total) { parts[split * OUTPUTS + output] = total; });
    if (!last_to_arrive(reinterpret_cast<unsigned*>(parts + SPLIT_K * OUTPUTS), SPLIT_K)) return;
    add_up(
        shared, SPLIT_K, [&](int part, int output) { return parts[part * OUTPUTS + output]; }, write);
}
