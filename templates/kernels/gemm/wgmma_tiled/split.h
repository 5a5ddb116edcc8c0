// Adds up the sums of a tile if several blocks each multiplied a part of K. The order of the additions is always the
// same.
//
// If CLUSTER_K is more than 1, each block of a cluster first writes its sums to its own shared memory, in groups of
// four sums per thread. Then each block adds up its share of the groups, which it reads from the shared memory of all
// CLUSTER_K blocks of the cluster that share the tile. If several clusters share the tile, the blocks write these
// totals to the workspace. Of the blocks with the same rank in their clusters, the last one to arrive adds up the
// totals of all clusters.
#pragma once

#include "device/cluster.h"
#include "device/vector.h"
#include "gemm/wgmma_tiled/work.h"

constexpr int GROUPS = ROWS / 64 * (BLOCK_N / 8);  // number of groups of four sums that a thread has

/// Returns whether this block is the last of `blocks` blocks to arrive at `counter`, which is in global memory. The
/// last block sees what the other blocks wrote before they arrived. All threads of the consumers must call the
/// function. `note` is in shared memory. The counter must be 0 before the first arrival, and it is 0 again after the
/// last arrival.
__device__ __forceinline__ bool last_of_consumers(int& note, unsigned* counter, int blocks) {
    consumer_barrier();  // all consumers have written their sums
    if (threadIdx.x == 0) {
        __threadfence();
        const bool last = atomicAdd(counter, 1U) == blocks - 1;
        if (last) *counter = 0;
        __threadfence();
        note = last;
    }
    consumer_barrier();
    return note != 0;
}

/// Adds up the sums of the blocks that share a tile, and writes the totals with `output`. All threads of the consumers
/// must call the function. If CLUSTER_K is more than 1, the producer's threads do not call it, but must arrive at its
/// cluster barrier (cluster_barrier_of_all). `row` and `column` are the first row and column of the block's tile.
/// `workspace` has SPLIT_K * BLOCK_M * BLOCK_N sums for each tile.
template <class Shared, class Sums, class Output>
__device__ __forceinline__ void add_up_parts(Shared& shared, const Work& work, const Sums& sums, float* workspace,
                                             unsigned* counters, const Output& output, int row, int column) {
    constexpr int PLACES = CONSUMERS * WARPGROUP * 4;             // distance between groups of a thread, in floats
    constexpr int AT_ONCE = CLUSTER_K < 16 ? 16 / CLUSTER_K : 1;  // number of groups whose loads are under way
    static_assert(CLUSTER_K == 1 || sizeof(float) * BLOCK_M * BLOCK_N <= sizeof(shared.a) + sizeof(shared.b),
                  "room for the sums");
    const auto write = [&](int group, const float(&total)[4]) { output.write_group(group, row, column, total); };
    // Writes the sums of this thread. Group g is at `to` + g * PLACES.
    const auto store_all = [&](float* to) {
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            store_four(to + group * PLACES, sums.values[group / (BLOCK_N / 8)] + group % (BLOCK_N / 8) * 4);
        }
    };
    float* const stages = reinterpret_cast<float*>(&shared) + threadIdx.x * 4;
    if constexpr (CLUSTER_K > 1) {
        consumer_barrier();  // no product reads the stages any more
        store_all(stages);
        cluster_barrier_of_all();
    }
    const int sharer = work.rank % SHARERS, part = work.part_of_cluster();
    const long long tile = work.first * static_cast<long long>(SHARERS) + sharer;
    float* const parts = workspace + SPLIT_K * BLOCK_M * BLOCK_N * tile + threadIdx.x * 4;
    const int first = GROUPS * part / CLUSTER_K, end = GROUPS * (part + 1) / CLUSTER_K;
    if constexpr (CLUSTER_K == 1) store_all(parts + work.split * BLOCK_M * BLOCK_N);
#pragma unroll 1
    for (int group = first; CLUSTER_K > 1 && group < end; group += AT_ONCE) {
        float fours[AT_ONCE][CLUSTER_K][4];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (int from = 0; from < CLUSTER_K; ++from) {
                load_four_of(from * SHARERS + sharer, fours[i][from], stages + min(group + i, end - 1) * PLACES);
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (group + i >= end) break;
            float total[4] = {};
#pragma unroll
            for (int from = 0; from < CLUSTER_K; ++from) {
#pragma unroll
                for (int j = 0; j < 4; ++j) total[j] += fours[i][from][j];
            }
            if (SPLIT_K == 1) {
                write(group + i, total);
            } else {
                store_four(parts + work.split * BLOCK_M * BLOCK_N + (group + i) * PLACES, total);
            }
        }
    }
    if (SPLIT_K == 1) return;
    if (!last_of_consumers(shared.note, counters + CLUSTER * work.first + work.rank, SPLIT_K)) return;
    // With many blocks in a cluster, each adds up few groups, so loading several at once would not help.
    constexpr int TOTALS_AT_ONCE = CLUSTER_K >= 8 || SPLIT_K >= 16 ? 1 : 16 / SPLIT_K;
#pragma unroll 1
    for (int group = first; group < end; group += TOTALS_AT_ONCE) {
        float fours[TOTALS_AT_ONCE][SPLIT_K][4];
#pragma unroll
        for (int i = 0; i < TOTALS_AT_ONCE; ++i) {
#pragma unroll
            for (int split = 0; split < SPLIT_K; ++split) {
                const int loaded = min(group + i, end - 1);
                load_four(fours[i][split], parts + split * BLOCK_M * BLOCK_N + loaded * PLACES);
            }
        }
#pragma unroll
        for (int i = 0; i < TOTALS_AT_ONCE; ++i) {
            if (group + i >= end) break;
            float total[4] = {};
#pragma unroll
            for (int split = 0; split < SPLIT_K; ++split) {
#pragma unroll
                for (int j = 0; j < 4; ++j) total[j] += fours[i][split][j];
            }
            write(group + i, total);
        }
    }
}
