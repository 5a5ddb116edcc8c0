// Adds up the sums of a tile if several blocks each multiplied a part of K. The order of the additions is always the
// same.
//
// If CLUSTER_K is more than 1, each block of a cluster first writes its sums to its own shared memory, in groups of
// four sums per thread. Then each block adds up its part of the groups, which it reads from the shared memory of all
// CLUSTER_K blocks of the cluster that share the tile.
//
// If SPLIT_K is more than 1, the blocks write the totals of their cluster (if CLUSTER_K is 1: their own sums) to the
// workspace. The SPLIT_K blocks with the same rank in their clusters then add up what they have written. If there is
// little to add up, the last block to arrive does it. Otherwise the additions are divided into SPLIT_K shares. A block
// must not wait without limit, because the other blocks may not have started. So it waits a short time for the others
// to arrive. If all have arrived, it takes one share. Otherwise it ends. The last block to arrive takes all shares that
// nobody else takes.
#pragma once

#include "device/cluster.h"
#include "device/vector.h"
#include "gemm/wgmma_tiled/work.h"

constexpr int GROUPS = ROWS / 64 * (BLOCK_N / 8);  // number of groups of four sums that a thread has

// The number of shares. To wait for the other blocks and to take a share costs about 1 us, even if they arrive soon. So
// one block adds up everything if each of its threads has at most 24 sets of four numbers.
constexpr int SHARES = (GROUPS + CLUSTER_K - 1) / CLUSTER_K * SPLIT_K > 24 ? SPLIT_K : 1;

constexpr int TRIES = 50;  // how often a block checks whether the others have arrived; a check takes about 1 us

/// The share of the additions that a block takes if SPLIT_K is more than 1.
struct Share {
    int number;    // the share to add up; SHARES or more if there is none
    bool is_last;  // whether this block takes all shares that nobody else takes
};

/// Reports that this block has written its sums, and returns its share of the additions. If the block gets a share, it
/// sees what the other blocks wrote. All threads of the consumers must call the function. `note` is in shared memory.
__device__ __forceinline__ Share arrive_and_take_share(int& note, SplitCounters* counters) {
    consumer_barrier();  // all consumers have written their sums
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned arrived = atomicAdd(&counters->arrived, 1U) + 1;
        const bool is_last = arrived == SPLIT_K;
        for (int i = 0; SHARES > 1 && arrived < SPLIT_K && i < TRIES; ++i) arrived = load_acquire(&counters->arrived);
        __threadfence();
        unsigned share = SHARES;
        if (arrived == SPLIT_K) share = SHARES > 1 ? atomicAdd(&counters->taken, 1U) : 0;
        note = static_cast<int>(share * 2 + is_last);
    }
    consumer_barrier();
    return {note / 2, note % 2 != 0};
}

/// Adds up groups first .. end - 1 of this thread. Each group has SOURCES sets of four numbers. load(group, source,
/// four) loads one set, and store(group, total) stores the total of a group.
template <int SOURCES, class Load, class Store>
__device__ __forceinline__ void add_up_groups(int first, int end, const Load& load, const Store& store) {
    constexpr int AT_ONCE = SOURCES < 16 ? 16 / SOURCES : 1;  // number of groups whose loads are in flight at once
#pragma unroll 1
    for (int group = first; group < end; group += AT_ONCE) {
        float fours[AT_ONCE][SOURCES][4];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (int source = 0; source < SOURCES; ++source) load(min(group + i, end - 1), source, fours[i][source]);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (group + i >= end) break;
            float total[4] = {};
#pragma unroll
            for (int source = 0; source < SOURCES; ++source) {
#pragma unroll
                for (int j = 0; j < 4; ++j) total[j] += fours[i][source][j];
            }
            store(group + i, total);
        }
    }
}

/// Adds up the sums of the blocks that share a tile, and writes the totals with `output`. All threads of the consumers
/// must call the function. If CLUSTER_K is more than 1, the function has a barrier of the cluster, so the producer's
/// threads must call cluster_barrier_of_all() once meanwhile. `row` and `column` are the first row and column of the
/// block's tile. `workspace` has SPLIT_K * BLOCK_M * BLOCK_N sums for each tile.
template <class Shared, class Sums, class Output>
__device__ __forceinline__ void add_up_parts(Shared& shared, const Work& work, const Sums& sums, float* workspace,
                                             SplitCounters* counters, const Output& output, int row, int column) {
    constexpr int PLACES = CONSUMERS * WARPGROUP * 4;  // distance between groups of a thread, in floats
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
    if constexpr (CLUSTER_K == 1) {
        store_all(parts + work.split * BLOCK_M * BLOCK_N);
    } else {
        const auto load = [&](int group, int from, float(&four)[4]) {
            load_four_of(from * SHARERS + sharer, four, stages + group * PLACES);
        };
        add_up_groups<CLUSTER_K>(first, end, load, [&](int group, const float(&total)[4]) {
            if (SPLIT_K == 1) {
                write(group, total);
            } else {
                store_four(parts + work.split * BLOCK_M * BLOCK_N + group * PLACES, total);
            }
        });
    }
    if (SPLIT_K == 1) return;
    SplitCounters* const own = counters + CLUSTER * work.first + work.rank;
    Share share = arrive_and_take_share(shared.note, own);
#pragma unroll 1
    while (share.number < SHARES) {
        unsigned next = SHARES;
        // The latency overlaps with the additions.
        if (SHARES > 1 && threadIdx.x == 0 && share.is_last) next = atomicAdd(&own->taken, 1U);
        const int from = first + (end - first) * share.number / SHARES;
        const int up_to = first + (end - first) * (share.number + 1) / SHARES;
        const auto load = [&](int group, int split, float(&four)[4]) {
            load_four(four, parts + split * BLOCK_M * BLOCK_N + group * PLACES);
        };
        add_up_groups<SPLIT_K>(from, up_to, load, write);
        if (SHARES == 1 || !share.is_last) break;
        consumer_barrier();  // all threads have read `note`
        if (threadIdx.x == 0) shared.note = static_cast<int>(next);
        consumer_barrier();
        share.number = shared.note;
    }
    // The last block that uses the counters resets them.
    if (threadIdx.x == 0 && (SHARES > 1 ? atomicAdd(&own->left, 1U) == SPLIT_K - 1 : share.is_last)) *own = {};
}
