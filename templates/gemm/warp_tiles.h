// Products of matrices by blocks, warps and threads that are tiled, fed by a pipeline of asynchronous copies.
//
// A block computes BLOCK_M x BLOCK_N elements of C. Its warps divide them (and, SLICES_K > 1, the steps along K too);
// in a warp, LANES_M rows of threads own THREAD_M x THREAD_N elements each. For every step along K a thread needs
// THREAD_M + THREAD_N values from shared memory, 16 bytes at a time, and multiplies each of the ones with each of the
// others: at 8 x 16 that is 128 multiplications for 6 reads. CLUSTER_K blocks of a cluster share a tile of C, each
// with a part of K, and add up through each other's shared memory: all tiles if they do not fill the device, or those
// that are left over for a last wave.
//
// On GPUs with 128 FP32 lanes per multiprocessor every issue slot that is not a multiplication is lost, so the loop
// holds little else: one pointer for several copies, no guards (rows outside the matrix are read from its last row, or
// the last tile begins earlier, and what is not wanted is not stored), no branches, and the copies of a phase all in
// one step, among the multiplications. The ragged end of K comes first, before the loop. Tiles arrive STAGES - 1 phases
// ahead; values arrive in registers ahead of their step, across the barrier too. What does not fit that (rows that are
// not aligned for copies of 16 bytes, a matrix smaller than the tile) gets a plain loop instead.
#pragma once

#include "configuration.h"
#include "device/async_copy.h"
#include "device/cluster.h"
#include "device/shared.h"
#include "device/vector.h"

constexpr int LANES_N = 32 / LANES_M;
constexpr int WARP_M = LANES_M * THREAD_M;
constexpr int WARP_N = LANES_N * THREAD_N;
constexpr int WARPS_N = BLOCK_N / WARP_N;
constexpr int WARPS_MN = BLOCK_M / WARP_M * WARPS_N;
constexpr int THREADS = 32 * WARPS_MN * SLICES_K;
constexpr int STEPS = BLOCK_K / SLICES_K;  // of a phase, for one warp
constexpr int SUMS = THREAD_M * THREAD_N;
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "whole warps tile a block");
static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0, "reads are 16 bytes long");
static_assert(BLOCK_K % 8 == 0 && STEPS % 2 == 0, "registers are filled in turns");
static_assert(STAGES >= 2, "one tile is read while another is filled");
static_assert((SLICES_K & (SLICES_K - 1)) == 0 && BLOCK_K % SLICES_K == 0, "slices are added up in halves");
static_assert(CLUSTER_K <= MOST_BLOCKS_OF_A_CLUSTER, "clusters came with compute capability 9.0");

#include "gemm/panel.h"

/// A thread's COUNT values of one step and, meanwhile, of the next. Fours of neighbours are 4 * LANES apart: the other
/// lanes of the warp have those between.
template <int STRIDE, int COUNT, int LANES>
struct Factors {
    SharedPlace from;  // the tile that is read: its first step, this thread's first value
    Element values[2][COUNT] = {};

    static __device__ __forceinline__ int place(int lane, int i) { return lane * 4 + i / 4 * 4 * LANES + i % 4; }
    __device__ __forceinline__ void read(int step, int turn, int sure) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            load_four_in_place(sure, &values[turn][i], from + (step * STRIDE + i * LANES));
        }
    }
};

using PanelA = Panel<BLOCK_M, TRANSPOSE_A == 0, VECTOR_A>;
using PanelB = Panel<BLOCK_N, TRANSPOSE_B != 0, VECTOR_B>;
constexpr int STAGE = PanelA::SIZE + PanelB::SIZE;

using FactorsA = Factors<PanelA::STRIDE, THREAD_M, LANES_M>;
using FactorsB = Factors<PanelB::STRIDE, THREAD_N, LANES_N>;

/// Reads a step of both. A multiplication keeps an operand for the next one only in the same place, and the compiler
/// puts lower registers first, which those are that are read first.
__device__ __forceinline__ void read(FactorsA& a, FactorsB& b, int step, int turn, int sure) {
    if (!A_FIRST) b.read(step, turn, sure);
    a.read(step, turn, sure);
    if (A_FIRST) b.read(step, turn, sure);
}

/// Adds the products of one step, to and fro along the rows, column by column: each shares a factor with the one before
/// it, which need not be read again. The banks of registers have two reads for the three operands.
__device__ __forceinline__ void multiply(Element (&sums)[SUMS], const FactorsA& a, const FactorsB& b, int turn) {
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
        const int n = i / THREAD_M;
        const int m = n % 2 ? THREAD_M - 1 - i % THREAD_M : i % THREAD_M;
        sums[m * THREAD_N + n] += a.values[turn][m] * b.values[turn][n];
    }
}

/// Adds up the warps' shares along K, in an order that never changes; the first slice holds the result.
__device__ __forceinline__ void add_slices(Element (&sums)[SUMS], Element* shared, int slice, int place) {
#pragma unroll
    for (int half = SLICES_K / 2; half > 0; half /= 2) {
        __syncthreads();  // nobody reads any more what stood here
        if (slice / half == 1) {
            Element* to = shared + (slice - half) * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) to[i * 32 * WARPS_MN] = sums[i];
        }
        __syncthreads();  // the sums of the upper half are there
        if (slice < half) {
            const Element* from = shared + slice * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) sums[i] += from[i * 32 * WARPS_MN];
        }
    }
}

/// C[M,N] = alpha * op(A) * op(B) + beta * C: this block's part. The grid has a block for each tile of C, and CLUSTER_K
/// for as many of the last ones as it is larger than that. Blocks go down GROUP_M rows of tiles before they turn to the
/// next column: those that run together share more.
__device__ __forceinline__ void warp_tiled_product(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                                   const Element* B, long long ldb, Element beta, Element* C,
                                                   long long ldc, int GROUP_M) {
    Element* const shared = dynamic_shared<Element>();

    const int tiles_m = (M - 1) / BLOCK_M + 1;
    const int tiles_n = (N - 1) / BLOCK_N + 1;
    const int block = blockIdx.x;
    const int shared_tiles = CLUSTER_K == 1 ? 0 : (gridDim.x - tiles_m * tiles_n) / max(CLUSTER_K - 1, 1);
    const int alone = tiles_m * tiles_n - shared_tiles;
    const int sharers = CLUSTER_K > 1 && block >= alone ? CLUSTER_K : 1;
    const int tile = sharers == 1 ? block : alone + (block - alone) / CLUSTER_K;
    const int group = tile / (GROUP_M * tiles_n);
    const int in_group = tile % (GROUP_M * tiles_n);
    const int height = min(GROUP_M, tiles_m - group * GROUP_M);
    const int own_row = (group * GROUP_M + in_group % height) * BLOCK_M;
    const int own_column = in_group / height * BLOCK_N;
    const int first_row = PanelA::first(own_row, M);
    const int first_column = PanelB::first(own_column, N);

    // This block's phases: the first of all has what K leaves over.
    const int rank = sharers > 1 ? cluster_rank() : 0;
    const int all_phases = (K - 1) / BLOCK_K + 1;
    const int ragged = K - (all_phases - 1) * BLOCK_K;
    const int first_phase = static_cast<int>(static_cast<long long>(all_phases) * rank / sharers);
    const int phases = static_cast<int>(static_cast<long long>(all_phases) * (rank + 1) / sharers) - first_phase;
    const int first_steps = first_phase == 0 ? ragged : BLOCK_K;
    const long long first_k = first_phase == 0 ? 0 : ragged + (first_phase - 1LL) * BLOCK_K;
    const Element* const a_tile = A + (TRANSPOSE_A ? first_k * lda + first_row : first_row * lda + first_k);
    const Element* const b_tile = B + (TRANSPOSE_B ? first_column * ldb + first_k : first_k * ldb + first_column);

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32 % WARPS_MN;
    const int slice = threadIdx.x / 32 / WARPS_MN;
    // Neighbouring lanes share values of B, and of A every other (LANE_PAIRS), or the lanes go row by row.
    const int lane_m = LANE_PAIRS ? lane / (2 * LANES_N) * 2 + lane % 2 : lane / LANES_N;
    const int lane_n = LANE_PAIRS ? lane / 2 % LANES_N : lane % LANES_N;
    const int row = warp / WARPS_N * WARP_M;  // of this warp, in the tile
    const int column = warp % WARPS_N * WARP_N;
    const SharedPlace a_first(kept(shared + slice * STEPS * PanelA::STRIDE + row + FactorsA::place(lane_m, 0)));
    const SharedPlace b_first(
        kept(shared + PanelA::SIZE + slice * STEPS * PanelB::STRIDE + column + FactorsB::place(lane_n, 0)));
    FactorsA a{a_first};
    FactorsB b{b_first};
    Element sums[SUMS] = {};

    const bool regular = PanelA::fits(A, lda, K, M, first_row) && PanelB::fits(B, ldb, K, N, first_column);
    if (regular && phases > 1) {
        PanelA a_panel(shared, a_tile, lda, M - first_row);
        PanelB b_panel(shared + PanelA::SIZE, b_tile, ldb, N - first_column);
#pragma unroll
        for (int ahead = 0; ahead < STAGES - 1; ++ahead) {
            const bool more = ahead < phases;
            const long long further_a = more ? BLOCK_K * a_panel.advance : 0;
            const long long further_b = more ? BLOCK_K * b_panel.advance : 0;
            Element* const to_a = a_panel.to + ahead * STAGE;
            Element* const to_b = b_panel.to + ahead * STAGE;
#pragma unroll
            for (int round = 0; round < PanelA::ROUNDS; ++round) {
                if (ahead == 0) a_panel.fetch_first(to_a, round, first_steps);
                if (ahead > 0) a_panel.fetch(to_a, round, further_a, more);
            }
#pragma unroll
            for (int round = 0; round < PanelB::ROUNDS; ++round) {
                if (ahead == 0) b_panel.fetch_first(to_b, round, first_steps);
                if (ahead > 0) b_panel.fetch(to_b, round, further_b, more);
            }
            a_panel.store(to_a);
            b_panel.store(to_b);
            commit_copies();
        }
        wait_for_copies<STAGES - 2>();
        __syncthreads();  // the first tile is complete
        read(a, b, 0, 0, M);
        read(a, b, 0, 1, M);  // of the other turn: for the order alone in which registers are given out
        constexpr int COPIES_AT = STEPS == 2 ? 0 : STEPS / 2;  // the step that starts the copies of a later phase
        int reading = 0;                                       // where the stages start
        int filling = (STAGES - 1) * STAGE;
#pragma unroll 1
        for (int phase = 0; phase < phases; ++phase) {
            // Every phase starts copies, also where no tile follows: branches around them would cost more.
            const bool more = phase + STAGES - 1 < phases;
            const long long further_a = more ? BLOCK_K * a_panel.advance : 0;
            const long long further_b = more ? BLOCK_K * b_panel.advance : 0;
            Element* const to_a = a_panel.to + filling;
            Element* const to_b = b_panel.to + filling;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                if (step == STEPS - 1) {
                    a_panel.store(to_a);
                    b_panel.store(to_b);
                    filling = reading;
                    reading = reading == (STAGES - 1) * STAGE ? 0 : reading + STAGE;
                    a.from = a_first + reading;
                    b.from = b_first + reading;
                    wait_for_copies<STAGES - 2>();
                    __syncthreads();  // the next tile is complete; and nobody reads this one any more
                }
                read(a, b, (step + 1) % STEPS, (step + 1) % 2, M);
                if (step == COPIES_AT) {  // all at once: the compiler pays for a change to them, not for their number
#pragma unroll
                    for (int round = 0; round < PanelA::ROUNDS; ++round) a_panel.fetch(to_a, round, further_a, more);
#pragma unroll
                    for (int round = 0; round < PanelB::ROUNDS; ++round) b_panel.fetch(to_b, round, further_b, more);
                    commit_copies();
                }
                multiply(sums, a, b, step % 2);
            }
        }
        wait_for_copies<0>();
    } else if (phases > 0) {
        const Element* a_next = a_tile;
        const Element* b_next = b_tile;
        int steps = first_steps;
#pragma unroll 1
        for (int phase = 0; phase < phases; ++phase) {
            __syncthreads();  // nobody reads any more what stood here
            PanelA::copy_guarded(shared, a_next, lda, steps, M - first_row);
            PanelB::copy_guarded(shared + PanelA::SIZE, b_next, ldb, steps, N - first_column);
            __syncthreads();  // the tile is complete
            a_next += steps * (TRANSPOSE_A ? lda : 1);
            b_next += steps * (TRANSPOSE_B ? 1 : ldb);
            steps = BLOCK_K;
#pragma unroll 1
            for (int step = 0; step < STEPS; ++step) {
                read(a, b, step, 0, M);
                multiply(sums, a, b, 0);
            }
        }
    }
    if (SLICES_K > 1) add_slices(sums, shared, slice, warp * 32 + lane);
#pragma unroll
    for (int i = 0; i < SUMS; ++i) sums[i] *= alpha;

    const bool vectors = rows_are_aligned(C, ldc) && first_column % 4 == 0;
    const auto write = [&](int m, int n, const Element* four) {  // neighbours along N, of this thread's
        const int r = first_row + row + FactorsA::place(lane_m, m);
        const int c = first_column + column + FactorsB::place(lane_n, n);
        if (r < own_row || r >= M) return;
        Element* const to = C + r * ldc + c;
        Element results[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            results[i] = four[i];
            if (beta != 0 && c + i >= own_column && c + i < N) results[i] += beta * to[i];
        }
        if (vectors && c >= own_column && c + 4 <= N) {
            store_four(to, results);
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (c + i >= own_column && c + i < N) to[i] = results[i];
            }
        }
    };
    if (CLUSTER_K == 1) {
        if (slice > 0) return;
#pragma unroll
        for (int i = 0; i < SUMS; i += 4) write(i / THREAD_N, i % THREAD_N, &sums[i]);
        return;
    }
    // Every block of the cluster shows its sums to the others, and adds up some of all in the order of the ranks. One
    // that is alone takes the same way: another would cost the main loop registers that suit it.
    __syncthreads();  // nobody reads any more what stood here
    Element* const shown = shared + 4 * (warp * 32 + lane);
    constexpr int APART = 4 * 32 * WARPS_MN;
    if (slice == 0) {
        // One by one: stores of four want the sums in fours of registers, which decides the banks of the main loop.
#pragma unroll
        for (int i = 0; i < SUMS; ++i) *static_cast<volatile Element*>(shown + i / 4 * APART + i % 4) = sums[i];
    }
    if (sharers > 1) cluster_barrier();
    if (slice == 0) {
#pragma unroll 1
        for (int i = 4 * rank; i < SUMS; i += 4 * sharers) {
            Element total[4] = {};
#pragma unroll
            for (int other = 0; other < CLUSTER_K; ++other) {
                if (other >= sharers) break;
                Element four[4];
                if (sharers > 1) load_four_of(other, four, shown + i / 4 * APART);
                if (sharers == 1) load_four(four, shown + i / 4 * APART);
#pragma unroll
                for (int j = 0; j < 4; ++j) total[j] += four[j];
            }
            write(i / THREAD_N, i % THREAD_N, total);
        }
    }
    if (sharers > 1) cluster_barrier();  // a block's shared memory lives as long as the block
}
