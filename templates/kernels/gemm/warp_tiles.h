// Products of matrices by blocks, warps and threads that are tiled, fed by a pipeline of asynchronous copies.
//
// A block computes BLOCK_M x BLOCK_N elements of C. Its warps divide them (and, SLICES_K > 1, the steps along K too);
// in a warp, LANES_M rows of threads own THREAD_M x THREAD_N elements each. For every step along K a thread needs
// THREAD_M + THREAD_N values from shared memory, 16 bytes at a time, and multiplies each of the ones with each of the
// others: at 8 x 16 that is 128 multiplications for 6 reads.
//
// Split-K: CLUSTER_K blocks of a cluster share a tile of C, each with a part of K, and add up through each other's
// shared memory: all tiles if they do not fill the device, or those that are left over for a last wave. Where
// tiles are few, SPLIT_K such clusters (or blocks) share each, and leave their sums in the workspace, where the last
// one adds them up. Sums are added in an order that never changes.
//
// On GPUs with 128 FP32 lanes per multiprocessor every issue slot that is not a multiplication is lost, so the loop
// holds little else: one pointer for several copies, no guards (rows outside the matrix are read from its last row, or
// the last tile begins earlier, and what is not wanted is not stored), no branches, and the copies of a phase all in
// one step, among the multiplications. The ragged end of K comes first, before the loop. Tiles arrive STAGES - 1 phases
// ahead; values arrive in registers ahead of their step, across the barrier too. What does not fit that (rows that are
// not aligned for copies of 16 bytes, a matrix smaller than the tile, a single phase) gets a plain loop instead.
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

/// What a block computes: its tile of C, and how much of K.
struct Part {
    int own_row, own_column;      // where the tile starts,
    int first_row, first_column;  // and what is copied for it: earlier, at the edges
    int tiles, tile;              // of C; its number,
    int split;                    // of SPLIT_K groups of blocks that share it,
    int rank, sharers;            // and in that group
    int phases;
    int first_steps;    // of the first phase: what K leaves over comes before everything else
    long long first_k;  // and where that starts

    /// Of this block. The grid has a block for each of the first tiles, whole clusters of them, and CLUSTER_K for each
    /// of the others: its size tells how many those are. All that SPLIT_K times. Blocks go down GROUP_M rows of tiles
    /// before they turn to the next column: those that run together share more.
    __device__ __forceinline__ Part(int M, int N, int K, int GROUP_M) {
        const int tiles_m = (M - 1) / BLOCK_M + 1;
        const int tiles_n = (N - 1) / BLOCK_N + 1;
        tiles = tiles_m * tiles_n;
        const int blocks = gridDim.x / SPLIT_K;
        split = SPLIT_K == 1 ? 0 : blockIdx.x / blocks;
        const int block = blockIdx.x - split * blocks;
        const int split_tiles = CLUSTER_K == 1 ? 0 : (blocks - tiles) / max(CLUSTER_K - 1, 1);
        const int alone = tiles - split_tiles;
        sharers = CLUSTER_K > 1 && block >= alone ? CLUSTER_K : 1;
        rank = sharers > 1 ? cluster_rank() : 0;

        tile = sharers == 1 ? block : alone + (block - alone) / CLUSTER_K;
        const int group = tile / (GROUP_M * tiles_n);
        const int in_group = tile % (GROUP_M * tiles_n);
        const int height = min(GROUP_M, tiles_m - group * GROUP_M);
        own_row = (group * GROUP_M + in_group % height) * BLOCK_M;
        own_column = in_group / height * BLOCK_N;
        first_row = PanelA::first(own_row, M);
        first_column = PanelB::first(own_column, N);

        const int all_phases = (K - 1) / BLOCK_K + 1;
        const int ragged = K - (all_phases - 1) * BLOCK_K;
        const int parts = SPLIT_K * sharers;
        const int part = split * sharers + rank;
        const int first_phase = static_cast<int>(static_cast<long long>(all_phases) * part / parts);
        phases = static_cast<int>(static_cast<long long>(all_phases) * (part + 1) / parts) - first_phase;
        first_steps = first_phase == 0 ? ragged : BLOCK_K;
        first_k = first_phase == 0 ? 0 : ragged + (first_phase - 1LL) * BLOCK_K;
    }
};

/// Where a thread is in its block.
struct Seat {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32 % WARPS_MN;
    int slice = threadIdx.x / 32 / WARPS_MN;
    // Neighbouring lanes share values of B, and of A every other (LANE_PAIRS), or the lanes go row by row.
    int lane_m = LANE_PAIRS ? lane / (2 * LANES_N) * 2 + lane % 2 : lane / LANES_N;
    int lane_n = LANE_PAIRS ? lane / 2 % LANES_N : lane % LANES_N;

    /// The row of its m-th sums, and the column of its n-th, in the tile.
    __device__ __forceinline__ int row(int m) const { return warp / WARPS_N * WARP_M + FactorsA::place(lane_m, m); }
    __device__ __forceinline__ int column(int n) const { return warp % WARPS_N * WARP_N + FactorsB::place(lane_n, n); }
};

#include "gemm/epilogue.h"

/// The products of all phases, two at least, of panels that can be fetched. `sure` is positive.
__device__ __forceinline__ void multiply_pipelined(Element (&sums)[SUMS], FactorsA& a, FactorsB& b, PanelA& a_panel,
                                                   PanelB& b_panel, int phases, int first_steps, int sure) {
    const SharedPlace a_first = a.from;
    const SharedPlace b_first = b.from;
#pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ++ahead) {
        const bool more = ahead < phases;
        const long long further_a = a_panel.further(more);
        const long long further_b = b_panel.further(more);
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
    read(a, b, 0, 0, sure);
    read(a, b, 0, 1, sure);  // of the other turn: for the order alone in which registers are given out
    constexpr int COPIES_AT = STEPS == 2 ? 0 : STEPS / 2;  // the step that starts the copies of a later phase
    int reading = 0;                                       // where the stages start
    int filling = (STAGES - 1) * STAGE;
#pragma unroll 1
    for (int phase = 0; phase < phases; ++phase) {
        // Every phase starts copies, also where no tile follows: branches around them would cost more.
        const bool more = phase + STAGES - 1 < phases;
        const long long further_a = a_panel.further(more);
        const long long further_b = b_panel.further(more);
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
            read(a, b, (step + 1) % STEPS, (step + 1) % 2, sure);
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
}

/// Likewise of any panels, and any number of phases: one tile at a time. `room_m` and `room_n` are the rows and columns
/// that exist.
__device__ __forceinline__ void multiply_guarded(Element (&sums)[SUMS], FactorsA& a, FactorsB& b, Element* shared,
                                                 const Element* a_tile, long long lda, int room_m,
                                                 const Element* b_tile, long long ldb, int room_n, int phases,
                                                 int first_steps, int sure) {
    int steps = first_steps;
#pragma unroll 1
    for (int phase = 0; phase < phases; ++phase) {
        __syncthreads();  // nobody reads any more what stood here
        PanelA::copy_guarded(shared, a_tile, lda, steps, room_m);
        PanelB::copy_guarded(shared + PanelA::SIZE, b_tile, ldb, steps, room_n);
        __syncthreads();  // the tile is complete
        a_tile += steps * (TRANSPOSE_A ? lda : 1);
        b_tile += steps * (TRANSPOSE_B ? 1 : ldb);
        steps = BLOCK_K;
#pragma unroll 1
        for (int step = 0; step < STEPS; ++step) {
            read(a, b, step, 0, sure);
            multiply(sums, a, b, 0);
        }
    }
}

/// C[M,N] = alpha * op(A) * op(B) + beta * C: this block's part. `workspace`, aligned to 16 bytes, has room for the
/// tiles of every matrix of a batch, of which this is number `matrix`.
__device__ __forceinline__ void warp_tiled_product(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                                   const Element* B, long long ldb, Element beta, Element* C,
                                                   long long ldc, int GROUP_M, Element* workspace,
                                                   long long matrix = 0) {
    Element* const shared = dynamic_shared<Element>();
    const Part part(M, N, K, GROUP_M);
    const Seat seat;
    const long long k = part.first_k;
    const Element* const a_tile = A + (TRANSPOSE_A ? k * lda + part.first_row : part.first_row * lda + k);
    const Element* const b_tile = B + (TRANSPOSE_B ? part.first_column * ldb + k : k * ldb + part.first_column);
    const int room_m = M - part.first_row;
    const int room_n = N - part.first_column;
    FactorsA a{SharedPlace(kept(shared + seat.slice * STEPS * PanelA::STRIDE + seat.row(0)))};
    FactorsB b{SharedPlace(kept(shared + PanelA::SIZE + seat.slice * STEPS * PanelB::STRIDE + seat.column(0)))};
    Element sums[SUMS] = {};
    const bool regular = PanelA::fits(A, lda, K, M, part.first_row) && PanelB::fits(B, ldb, K, N, part.first_column);
    if (regular && part.phases > 1) {
        PanelA a_panel(shared, a_tile, lda, room_m);
        PanelB b_panel(shared + PanelA::SIZE, b_tile, ldb, room_n);
        multiply_pipelined(sums, a, b, a_panel, b_panel, part.phases, part.first_steps, M);
    } else {
        multiply_guarded(sums, a, b, shared, a_tile, lda, room_m, b_tile, ldb, room_n, part.phases, part.first_steps,
                         M);
    }
    if (SLICES_K > 1) add_slices(sums, shared, seat);
#pragma unroll
    for (int i = 0; i < SUMS; ++i) sums[i] *= alpha;

    const Output output(C, ldc, M, N, beta, part);
    if (CLUSTER_K * SPLIT_K > 1) {
        Element* const of_tile = SPLIT_K > 1 ? workspace + (matrix * part.tiles + part.tile) * TILE_WORKSPACE : nullptr;
        add_shares(sums, shared, of_tile, part, seat, output);
        return;
    }
    if (seat.slice > 0) return;
#pragma unroll
    for (int i = 0; i < SUMS; i += 4) output.write(part, seat, i, &sums[i]);
}
