// Determines which tiles and which part of K a block computes. This file also has the index of the next stage
// (Pipeline), the layout of the workspace, and barriers of warpgroups and clusters.
#pragma once

#include "configuration.h"
#include "device/tensor_copy.h"
#include "device/wgmma.h"

constexpr int WARPGROUP = 128;
constexpr int SHARERS = CLUSTER_M * CLUSTER_N;  // number of blocks that copy operands for each other
constexpr int CLUSTER = SHARERS * CLUSTER_K;
constexpr int LINE = 128 / sizeof(Element);  // number of elements in a line (128 bytes)
constexpr int CHUNK = 16 / sizeof(Element);  // number of elements in a chunk (16 bytes)
static_assert(BLOCK_K == LINE && ROWS % 64 == 0 && BLOCK_M % ROWS == 0, "whole instructions");

struct alignas(16) Chunk {
    Element elements[CHUNK];
};

/// The next stage to fill or to multiply, and the parity of the phase of its barriers.
struct Pipeline {
    int stage = 0, parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    /// Skips `stages` stages.
    __device__ __forceinline__ void skip(int stages) {
        stage += stages;
        parity ^= stage / STAGES % 2;
        stage %= STAGES;
    }
};

/// The tiles of C that a block computes, one after another, and its part of K. A cluster computes CLUSTER_M x CLUSTER_N
/// neighbouring tiles at a time, each with CLUSTER_K of its blocks. SPLIT_K clusters compute the same tiles. `tiles`,
/// `first` and `step` count the tiles of one cluster as one tile.
///
/// The SHARERS blocks that compute different tiles with the same part of K have successive ranks.
struct Work {
    int tiles, first, step;     // number of tiles; a block computes tiles first, first + step, ...
    int split, rank;            // the cluster's index among those that share a tile; the block's index in its cluster
    int first_k_tile, k_tiles;  // this block's part of K; if K is 0: -1 and 1, for one k-tile of zeros

    __device__ __forceinline__ Work(int M, int N, int K, int group)
        : first(blockIdx.x / CLUSTER / SPLIT_K),
          step(gridDim.x / CLUSTER / SPLIT_K),
          split(blockIdx.x / CLUSTER % SPLIT_K),
          rank(CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER),
          rows((M - 1) / (BLOCK_M * CLUSTER_M) + 1),
          columns((N - 1) / (BLOCK_N * CLUSTER_N) + 1),
          group_rows(group) {
        tiles = rows * columns;
        const int all = K / BLOCK_K + (K % BLOCK_K > 0), parts = SPLIT_K * CLUSTER_K;
        const int part = parts == 1 ? 0 : split * CLUSTER_K + part_of_cluster();
        first_k_tile = all / parts * part + min(part, all % parts);
        k_tiles = all / parts + (part < all % parts);
        if (all == 0) first_k_tile = -1, k_tiles = 1;
    }

    /// Returns which of the cluster's CLUSTER_K parts of K this block multiplies.
    __device__ __forceinline__ int part_of_cluster() const { return CLUSTER_K == 1 ? 0 : rank / SHARERS; }

    struct Place {
        int row, column;
    };
    /// Returns the first row and column, in C, of this block's tile. `tile` counts the tiles of one cluster as one.
    __device__ __forceinline__ Place place(int tile) const {
        const int group = tile / (group_rows * columns), in_group = tile % (group_rows * columns);
        const int height = min(group_rows, rows - group * group_rows);
        const int of_sharers = rank % SHARERS;
        return {((group * group_rows + in_group % height) * CLUSTER_M + of_sharers % CLUSTER_M) * BLOCK_M,
                (in_group / height * CLUSTER_N + of_sharers / CLUSTER_M) * BLOCK_N};
    }

private:
    int rows, columns, group_rows;
};

/// Counters of do_tasks (tasks.h) in the workspace. They are 0 before and after a launch.
struct RepackCounters {
    unsigned taken, done, left;  // numbers of tasks taken, of tasks done, and of blocks that finished waiting
};

/// Counters of split.h in the workspace. They are 0 before and after a launch.
struct alignas(16) SplitCounters {
    unsigned arrived;  // number of blocks that have written their sums
    unsigned taken;    // number of shares taken
    unsigned left;     // number of blocks that no longer use the counters
};

/// The workspace: first counters, then copies of operands and the sums of parts of K. Each launch must find the
/// counters where the previous launch left them. If alpha is 0, a problem is launched with K = 0, so the place of the
/// counters must not depend on K.
struct Workspace {
    RepackCounters* repack;
    SplitCounters* split;  // CLUSTER elements for each tile (as Work counts tiles)
    unsigned char* rest;   // the rest of the workspace, aligned to 128 bytes

    __device__ __forceinline__ Workspace(unsigned char* from, const Work& work)
        : repack(reinterpret_cast<RepackCounters*>(from)),
          split(reinterpret_cast<SplitCounters*>(from + 128)),
          rest(from + 128 + (SPLIT_K == 1 ? 0 : (16LL * CLUSTER * work.tiles + 127) / 128 * 128)) {}
};

__device__ __forceinline__ unsigned load_acquire(const unsigned* from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/// A barrier of all consumers' threads of the block.
__device__ __forceinline__ void consumer_barrier() {
    asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS * WARPGROUP) : "memory");
}

/// Initialises the barriers of all stages. One thread calls it. Each time a stage is used, `writers` threads arrive at
/// its barrier `full`, and `readers` threads at `empty`.
template <class Shared>
__device__ __forceinline__ void init_stages(Shared& shared, int writers, int readers) {
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        init_barrier(&shared.full[stage], writers);
        init_barrier(&shared.empty[stage], readers);
    }
    fence_barriers();
}

/// Makes the consumers wait until the first warp of the producer has arrived here. That warp does not wait.
__device__ __forceinline__ void await_producer() {
    constexpr int ALL = CONSUMERS * WARPGROUP + 32;
    const int warp = threadIdx.x / 32;
    if (warp < CONSUMERS * 4) {
        asm volatile("bar.sync 2, %0;" ::"n"(ALL) : "memory");
    } else if (warp == CONSUMERS * 4) {
        __syncwarp();
        asm volatile("bar.arrive 2, %0;" ::"n"(ALL) : "memory");
    }
}

template <int count>
__device__ __forceinline__ void release_registers() {
    if constexpr (count > 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void take_registers() {
    if constexpr (count > 0) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// Waits for all threads of the cluster. The threads of a warp need not arrive together (no `.aligned`).
__device__ __forceinline__ void cluster_barrier_of_all() {
    if constexpr (CLUSTER > 1) {
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    }
}

/// Whether the copy engine can address the rows of a matrix.
__device__ __forceinline__ bool engine_can_address(const Element* matrix, long long stride) {
    return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && stride * sizeof(Element) % 16 == 0;
}
