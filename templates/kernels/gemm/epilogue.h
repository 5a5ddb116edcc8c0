// What becomes of a tile's sums: added up over the slices of a block and the blocks that share the tile, and written to
// C. Part of gemm/warp_tiles.h.
#pragma once

#include "device/cluster.h"
#include "device/last_block.h"
#include "device/vector.h"

/// Adds up the warps' shares along K, in an order that never changes; the first slice holds the result.
__device__ __forceinline__ void add_slices(Element (&sums)[SUMS], Element* shared, const Seat& seat) {
    const int place = seat.warp * 32 + seat.lane;
#pragma unroll
    for (int half = SLICES_K / 2; half > 0; half /= 2) {
        __syncthreads();  // nobody reads any more what stood here
        if (seat.slice / half == 1) {
            Element* to = shared + (seat.slice - half) * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) to[i * 32 * WARPS_MN] = sums[i];
        }
        __syncthreads();  // the sums of the upper half are there
        if (seat.slice < half) {
            const Element* from = shared + seat.slice * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) sums[i] += from[i * 32 * WARPS_MN];
        }
    }
}

/// Where the results of a thread go. Its i-th sum is that of row i / THREAD_N and column i % THREAD_N.
struct Output {
    Element* C;
    long long ldc;
    int M, N;
    Element beta;
    bool vectors;  // whether four may be written at once

    __device__ __forceinline__ Output(Element* C, long long ldc, int M, int N, Element beta, const Part& part)
        : C(C), ldc(ldc), M(M), N(N), beta(beta), vectors(rows_are_aligned(C, ldc) && part.first_column % 4 == 0) {}

    /// Writes the i-th sum and the three behind it, if they lie in the tile and in C.
    __device__ __forceinline__ void write(const Part& part, const Seat& seat, int i, const Element* four) const {
        const int r = part.first_row + seat.row(i / THREAD_N);
        const int c = part.first_column + seat.column(i % THREAD_N);
        if (r < part.own_row || r >= M) return;
        Element* const to = C + r * ldc + c;
        Element results[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            results[j] = four[j];
            if (beta != 0 && c + j >= part.own_column && c + j < N) results[j] += beta * to[j];
        }
        if (vectors && c >= part.own_column && c + 4 <= N) {
            store_four(to, results);
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if (c + j >= part.own_column && c + j < N) to[j] = results[j];
            }
        }
    }
};

/// What a tile takes of the workspace, in elements, as in the manifest: SPLIT_K times its sums, and counters, one for
/// each block of a cluster.
constexpr int COUNTERS = 32;
constexpr long long TILE_WORKSPACE = SPLIT_K * BLOCK_M * BLOCK_N + COUNTERS;
static_assert(CLUSTER_K <= COUNTERS && sizeof(Element) == sizeof(unsigned), "counters take the place of elements");

/// For a thread's share of the tile, four by four, which its slice and its block's rank in the cluster decide: adds up
/// what `load(which, i, four)` says for each `which` < `count` <= MOST, in that order, and hands it to
/// `store(i, total)`.
template <int MOST, class Load, class Store>
__device__ __forceinline__ void add_up(const Part& part, const Seat& seat, int count, const Load& load,
                                       const Store& store) {
#pragma unroll 1
    for (int i = 4 * (part.rank + part.sharers * seat.slice); i < SUMS; i += 4 * part.sharers * SLICES_K) {
        Element total[4] = {};
#pragma unroll
        for (int which = 0; which < MOST; ++which) {
            if (which >= count) break;
            Element four[4];
            load(which, i, four);
#pragma unroll
            for (int j = 0; j < 4; ++j) total[j] += four[j];
        }
        store(i, total);
    }
}

/// Every block of a cluster shows its sums to the others, in shared memory, and adds up its share of all. SPLIT_K
/// clusters leave theirs in the workspace, `of_tile`, and the last one adds them up. A block that is alone takes the
/// same way: another would cost the main loop registers that suit it.
__device__ __forceinline__ void add_shares(const Element (&sums)[SUMS], Element* shared, Element* of_tile,
                                           const Part& part, const Seat& seat, const Output& output) {
    // In shared memory and in the workspace, the fours of a warp's threads lie beside one another.
    const auto four_of = [&](int i) { return 32 * WARPS_MN * i + 4 * (seat.warp * 32 + seat.lane); };
    __syncthreads();  // nobody reads any more what stood here
    if (seat.slice == 0) {
        // One by one: stores of four want the sums in fours of registers, which decides the banks of the main loop.
#pragma unroll
        for (int i = 0; i < SUMS; ++i) *static_cast<volatile Element*>(shared + four_of(i / 4 * 4) + i % 4) = sums[i];
    }
    if (part.sharers > 1) cluster_barrier();
    if (part.sharers == 1) __syncthreads();
    add_up<CLUSTER_K>(
        part, seat, part.sharers,
        [&](int rank, int i, Element* four) {
            if (part.sharers > 1) load_four_of(rank, four, shared + four_of(i));
            if (part.sharers == 1) load_four(four, shared + four_of(i));
        },
        [&](int i, const Element* total) {
            if (SPLIT_K == 1) output.write(part, seat, i, total);
            if (SPLIT_K > 1) store_four(of_tile + part.split * BLOCK_M * BLOCK_N + four_of(i), total);
        });
    if (part.sharers > 1) cluster_barrier();  // a block's shared memory lives as long as the block
    if (SPLIT_K == 1) return;
    unsigned* const counters = reinterpret_cast<unsigned*>(of_tile + SPLIT_K * BLOCK_M * BLOCK_N);
    if (!last_to_arrive(counters + part.rank, SPLIT_K)) return;
    add_up<SPLIT_K>(
        part, seat, SPLIT_K,
        [&](int split, int i, Element* four) { load_four(four, of_tile + split * BLOCK_M * BLOCK_N + four_of(i)); },
        [&](int i, const Element* total) { output.write(part, seat, i, total); });
}
