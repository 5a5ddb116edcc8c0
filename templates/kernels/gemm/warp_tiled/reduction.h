// Adds up the partial sums of a tile of C. A tile has partial sums if slices of a block, blocks of a cluster, or
// several clusters have each computed a part of K. The order of the additions is fixed, so a configuration gives the
// same bits in every run. It gives the same bits on all GPUs with the same number of multiprocessors, because this
// number decides which tiles are shared, and among how many blocks.
#pragma once

#include "device/cluster.h"
#include "device/compiler_hints.h"
#include "device/last_block.h"
#include "device/vector.h"
#include "gemm/warp_tiled/output.h"

/// Adds up the accumulators of a block's SLICES_K slices through shared memory, in log2(SLICES_K) rounds. In each
/// round, slice s + half writes its accumulators to shared memory, and slice s adds them to its own (0 <= s < half).
/// `half` is SLICES_K / 2 in the first round and is halved after each. In the end, slice 0 has the total.
__device__ __forceinline__ void reduce_slices(Element (&accumulators)[ACCUMULATORS], Element* shared,
                                              const ThreadCoord& thread) {
    const int place = thread.warp * 32 + thread.lane;
#pragma unroll 1
    for (int half = SLICES_K / 2; half > 0; half /= 2) {
        __syncthreads();  // no thread reads the previous contents of shared memory any more
        if (thread.slice / half == 1) {
            Element* to = shared + (thread.slice - half) * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; ++i) to[i * 32 * SLICE_WARPS] = accumulators[i];
        }
        __syncthreads();  // the accumulators of slices half .. 2 * half - 1 are in shared memory
        if (thread.slice < half) {
            const Element* from = shared + thread.slice * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; ++i) accumulators[i] += from[i * 32 * SLICE_WARPS];
        }
    }
}

/// Adds up the `count` partial sums of each element of a tile. Accumulators i .. i + 3 of a thread form a group (i is a
/// multiple of 4). Threads with equal `warp` and `lane` have the same elements of the tile. There is one such thread in
/// each slice of each of the `sharers` blocks. These threads divide the ACCUMULATORS / 4 groups among them. For each of
/// its groups, a thread calls `load(source, i, four)` for source = 0 .. count - 1, adds the results in this order, and
/// passes the total to `store(i, total)`. `count` is at most MOST.
template <int MOST, class Load, class Store>
__device__ __forceinline__ void add_up(const WorkTile& work, const ThreadCoord& thread, int count, const Load& load,
                                       const Store& store) {
#pragma unroll 1
    for (int i = 4 * (work.rank + work.sharers * thread.slice); i < ACCUMULATORS; i += 4 * work.sharers * SLICES_K) {
        Element total[4] = {};
#pragma unroll
        for (int source = 0; source < MOST; ++source) {
            if (source >= count) break;
            Element four[4];
            load(source, i, four);
#pragma unroll
            for (int j = 0; j < 4; ++j) total[j] += four[j];
        }
        store(i, total);
    }
}

/// Like add_up(), for any `count`. Loads up to 8 partial sums of each of GROUPS groups at once, because the block that
/// adds up is one of the last that run, so only its own loads can hide the memory's latency.
template <int GROUPS, class Load, class Store>
__device__ __forceinline__ void add_up_many(const WorkTile& work, const ThreadCoord& thread, int count,
                                            const Load& load, const Store& store) {
    constexpr int SOURCES = 8;
    const int step = 4 * work.sharers * SLICES_K;  // between the thread's groups
#pragma unroll 1
    for (int i = 4 * (work.rank + work.sharers * thread.slice); i < ACCUMULATORS; i += GROUPS * step) {
        Element totals[GROUPS][4] = {};
#pragma unroll 1
        for (int first = 0; first < count; first += SOURCES) {
            Element fours[GROUPS][SOURCES][4] = {};
#pragma unroll
            for (int at = 0; at < GROUPS * SOURCES; ++at) {
                const int group = i + at / SOURCES * step, source = first + at % SOURCES;
                if (group < ACCUMULATORS && source < count) load(source, group, fours[at / SOURCES][at % SOURCES]);
            }
#pragma unroll
            for (int at = 0; at < GROUPS * SOURCES; ++at) {
#pragma unroll
                for (int j = 0; j < 4; ++j) totals[at / SOURCES][j] += fours[at / SOURCES][at % SOURCES][j];
            }
        }
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            if (i + group * step < ACCUMULATORS) store(i + group * step, totals[group]);
        }
    }
}

/// Adds up the partial sums of all blocks that share a tile along K, and writes the totals to C. There are two steps:
///
///   1. Within a cluster. Each block writes its accumulators to its own shared memory. After a barrier of the cluster,
///      each block adds up one part of the tile, which it reads from the shared memory of all blocks of the cluster.
///      The part is 1 / CLUSTER_K of the tile if CLUSTER_K divides ACCUMULATORS / 4.
///   2. Between the `splits` clusters (or single blocks), unless SPLIT_K = 1. A tile has one counter for each rank of a
///      block in its cluster. Each block writes the sums of its part to the workspace and increments the counter of its
///      own rank. The last of the `splits` blocks with this rank adds up the sums of all of them and writes to C. So
///      blocks of different clusters may write different parts of one tile.
///
/// The workspace of a tile has `splits` * BLOCK_M * BLOCK_N sums, then TILE_COUNTERS counters: one for each rank.
///
/// The sums of a block that computes its tile alone also pass through shared memory, because a second way to write C
/// would leave fewer registers for the main loop.
__device__ __forceinline__ void reduce_split_k(const Element (&accumulators)[ACCUMULATORS], Element* shared,
                                               Element* tile_workspace, const WorkTile& work, const ThreadCoord& thread,
                                               const Output& output) {
    // Returns the offset, in elements, of this thread's accumulators i .. i + 3 (i a multiple of 4) in shared memory,
    // and in the workspace. The groups of neighbouring lanes are neighbours.
    const auto group_of = [&](int i) { return 32 * SLICE_WARPS * i + 4 * (thread.warp * 32 + thread.lane); };
    __syncthreads();  // no thread reads the previous contents of shared memory any more
    if (thread.slice == 0) {
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; ++i) store_alone(shared + group_of(i / 4 * 4) + i % 4, accumulators[i]);
    }
    if (work.sharers > 1) cluster_barrier();
    if (work.sharers == 1) __syncthreads();
    add_up<CLUSTER_K>(
        work, thread, work.sharers,
        [&](int rank, int i, Element* four) {
            if (work.sharers > 1) load_four_of(rank, four, shared + group_of(i));
            if (work.sharers == 1) load_four(four, shared + group_of(i));
        },
        [&](int i, const Element* total) {
            if (SPLIT_K == 1) output.write(work, thread, i, total);
            if (SPLIT_K != 1) store_four(tile_workspace + work.split * BLOCK_M * BLOCK_N + group_of(i), total);
        });
    if (work.sharers > 1) cluster_barrier();  // no block may exit while another block reads its shared memory
    if (SPLIT_K == 1) return;
    unsigned* const counters = reinterpret_cast<unsigned*>(tile_workspace + work.splits * BLOCK_M * BLOCK_N);
    if (!last_to_arrive(counters + work.rank, work.splits)) return;
    const auto load = [&](int split, int i, Element* four) {
        load_four(four, tile_workspace + split * BLOCK_M * BLOCK_N + group_of(i));
    };
    const auto store = [&](int i, const Element* total) { output.write(work, thread, i, total); };
    if (SPLIT_K > 0) {
        add_up<SPLIT_K>(work, thread, SPLIT_K, load, store);
        return;
    }
    constexpr int GROUPS = BLOCKS_PER_SM * THREADS <= 512 ? 2 : 1;  // as registers allow
    add_up_many<GROUPS>(work, thread, work.splits, load, store);
}
