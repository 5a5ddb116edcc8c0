// Adds up the parts of a tile that several blocks have multiplied, always in the same order.
//
// The blocks of a cluster first write their sums to shared memory. A thread's sums are groups of four; each block adds
// up its share of the groups. If several clusters share the tile, they write these totals to the workspace, and the
// last of them to arrive adds up.
#pragma once

#include "device/cluster.h"
#include "device/vector.h"
#include "gemm/wgmma_tiled/work.h"

constexpr int GROUPS = ROWS / 64 * (BLOCK_N / 8);  // of four sums, of a thread

/// Whether this block is the last of `blocks` to arrive at `counter`. The last one sees what the others wrote before.
/// The consumers' threads call it; `note` is in shared memory. The counter is 0 before the first arrival, and after the
/// last.
__device__ __forceinline__ bool last_of_consumers(int& note, unsigned* counter, int blocks) {
    consumer_barrier();  // everything is written
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

/// The consumers call it. Meanwhile the producer's threads wait at the cluster barrier below. `row` is the block's
/// first. `workspace` has SPLIT_K times BLOCK_M * BLOCK_N sums for each tile.
template <class Shared, class Sums, class Output>
__device__ __forceinline__ void add_up_parts(Shared& shared, const Work& work, const Sums& sums, float* workspace,
                                             unsigned* counters, const Output& output, int row, int column) {
    constexpr int PLACES = CONSUMERS * WARPGROUP * 4;             // of a group
    constexpr int AT_ONCE = CLUSTER_K < 16 ? 16 / CLUSTER_K : 1;  // groups whose loads are under way
    static_assert(CLUSTER_K == 1 || sizeof(float) * BLOCK_M * BLOCK_N <= sizeof(shared.a) + sizeof(shared.b),
                  "room for the sums");
    const auto write = [&](int group, const float(&total)[4]) { output.write_group(group, row, column, total); };
    float* const stages = reinterpret_cast<float*>(&shared) + threadIdx.x * 4;
    consumer_barrier();  // no product reads the stages any more
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        store_four(stages + group * PLACES, sums.values[group / (BLOCK_N / 8)] + group % (BLOCK_N / 8) * 4);
    }
    cluster_barrier_of_all();
    float* const parts = workspace + SPLIT_K * BLOCK_M * BLOCK_N * static_cast<long long>(work.first) + threadIdx.x * 4;
    const int first = GROUPS * work.rank / CLUSTER_K, end = GROUPS * (work.rank + 1) / CLUSTER_K;
#pragma unroll 1
    for (int group = first; group < end; group += AT_ONCE) {
        float fours[AT_ONCE][CLUSTER_K][4];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (int rank = 0; rank < CLUSTER_K; ++rank) {
                load_four_of(rank, fours[i][rank], stages + min(group + i, end - 1) * PLACES);
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (group + i >= end) break;
            float total[4] = {};
#pragma unroll
            for (int rank = 0; rank < CLUSTER_K; ++rank) {
#pragma unroll
                for (int j = 0; j < 4; ++j) total[j] += fours[i][rank][j];
            }
            if (SPLIT_K == 1) {
                write(group + i, total);
            } else {
                store_four(parts + work.split * BLOCK_M * BLOCK_N + (group + i) * PLACES, total);
            }
        }
    }
    if (SPLIT_K == 1) return;
    if (!last_of_consumers(shared.note, counters + CLUSTER_K * work.first + work.rank, SPLIT_K)) return;
#pragma unroll 1
    for (int group = first; group < end; ++group) {
        float total[4] = {}, fours[SPLIT_K][4];
#pragma unroll
        for (int split = 0; split < SPLIT_K; ++split) {
            load_four(fours[split], parts + split * BLOCK_M * BLOCK_N + group * PLACES);
        }
#pragma unroll
        for (int split = 0; split < SPLIT_K; ++split) {
#pragma unroll
            for (int i = 0; i < 4; ++i) total[i] += fours[split][i];
        }
        write(group, total);
    }
}
