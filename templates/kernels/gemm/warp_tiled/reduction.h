// Adds up the sums of those that share a tile along K: slices of a block, blocks of a cluster, clusters of the grid.
// Every sum is added in an order that never changes. So a configuration gives the same bits each time, on all GPUs with
// equally many multiprocessors: their number decides which tiles are shared.
#pragma once

#include "device/cluster.h"
#include "device/compiler_hints.h"
#include "device/last_block.h"
#include "device/vector.h"
#include "gemm/warp_tiled/output.h"

/// Adds the slices' accumulators by halves through shared memory: slice s + half to slice s. Slice 0 holds the result.
__device__ __forceinline__ void reduce_slices(Element (&accumulators)[ACCUMULATORS], Element* shared,
                                              const ThreadCoord& thread) {
    const int place = thread.warp * 32 + thread.lane;
#pragma unroll 1
    for (int half = SLICES_K / 2; half > 0; half /= 2) {
        __syncthreads();  // no thread reads any more what stood here
        if (thread.slice / half == 1) {
            Element* to = shared + (thread.slice - half) * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; ++i) to[i * 32 * SLICE_WARPS] = accumulators[i];
        }
        __syncthreads();  // the upper half's accumulators are there
        if (thread.slice < half) {
            const Element* from = shared + thread.slice * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; ++i) accumulators[i] += from[i * 32 * SLICE_WARPS];
        }
    }
}

/// Adds up the shares of a tile, four neighbouring accumulators i .. i + 3 at a time. The fours of a thread position
/// are divided among the sharing blocks and among the slices, which all help: the sums lie in memory that they can
/// read. For its own fours a thread adds what `load(source, i, four)` gives for source = 0 .. count - 1, in that order,
/// and passes the total to `store(i, total)`. `count` is at most MOST.
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

/// Split-K, in two steps:
///
///   1. In a cluster. Each block writes its accumulators to its own shared memory. After a barrier of the cluster, the
///      block with rank r adds up its part of the tile from the shared memory of all: 1 / CLUSTER_K of the tile if
///      CLUSTER_K divides ACCUMULATORS / 4.
///   2. Between the SPLIT_K clusters (or single blocks), if there are several. Each writes its part to the workspace
///      and counts up the tile's counter for its rank. Of the SPLIT_K blocks with one rank, the last to arrive adds up
///      their parts. So blocks of different clusters may finish the same tile.
///
/// The workspace of a tile has SPLIT_K * BLOCK_M * BLOCK_N sums, then TILE_COUNTERS counters: one for each rank.
///
/// A block that shares its tile with no other takes the same way: a second way to write C would cost the main loop
/// registers.
__device__ __forceinline__ void reduce_split_k(const Element (&accumulators)[ACCUMULATORS], Element* shared,
                                               Element* tile_workspace, const WorkTile& work, const ThreadCoord& thread,
                                               const Output& output) {
    // In shared memory and in the workspace, the groups i of a warp's threads lie beside one another.
    const auto group_of = [&](int i) { return 32 * SLICE_WARPS * i + 4 * (thread.warp * 32 + thread.lane); };
    __syncthreads();  // no thread reads any more what stood here
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
            if (SPLIT_K > 1) store_four(tile_workspace + work.split * BLOCK_M * BLOCK_N + group_of(i), total);
        });
    if (work.sharers > 1) cluster_barrier();  // a block's shared memory lives as long as the block
    if (SPLIT_K == 1) return;
    unsigned* const counters = reinterpret_cast<unsigned*>(tile_workspace + SPLIT_K * BLOCK_M * BLOCK_N);
    if (!last_to_arrive(counters + work.rank, SPLIT_K)) return;
    add_up<SPLIT_K>(
        work, thread, SPLIT_K,
        [&](int split, int i, Element* four) {
            load_four(four, tile_workspace + split * BLOCK_M * BLOCK_N + group_of(i));
        },
        [&](int i, const Element* total) { output.write(work, thread, i, total); });
}
