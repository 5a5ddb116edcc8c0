// What a block shares: stages of k-tiles, barriers, and the order of its work.
#pragma once

#include "configuration.h"
#include "device/tensor_copy.h"
#include "device/wgmma.h"

constexpr int WARPGROUP = 128;
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N;
constexpr int ROWS = BLOCK_M / CONSUMERS;  // of C per consumer
constexpr int LINE = 64;                   // elements of a line of 128 bytes
constexpr bool A_ALONG_M = TRANSPOSE_A != 0, B_ALONG_N = TRANSPOSE_B == 0;
static_assert(BLOCK_K == LINE && BLOCK_M % (64 * CONSUMERS) == 0, "whole instructions");

struct alignas(1024) Shared {
    Element a[STAGES][BLOCK_M * BLOCK_K];
    Element b[STAGES][BLOCK_N * BLOCK_K];
    Element strips[CONSUMERS * 4][2][16 * STRIP_COLUMNS];  // of the warps' outputs
    Barrier full[STAGES], empty[STAGES];
};

__device__ __forceinline__ Shared& shared_of_block() {
    extern __shared__ unsigned char shared_memory[];
    const unsigned address = shared_address(shared_memory);
    return *reinterpret_cast<Shared*>(shared_memory + ((address + 1023) / 1024 * 1024 - address));
}

/// Which stage is next, and the parity of its phase.
struct Pipeline {
    int stage = 0, parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/// The tiles of C that a block computes, one after another. A cluster takes CLUSTER_M x CLUSTER_N neighbours.
struct Work {
    int tiles, first, step;  // of clusters

    __device__ __forceinline__ Work(int M, int N, int group)
        : first(blockIdx.x / CLUSTER),
          step(gridDim.x / CLUSTER),
          rows((M - 1) / (BLOCK_M * CLUSTER_M) + 1),
          columns((N - 1) / (BLOCK_N * CLUSTER_N) + 1),
          group_rows(group) {
        tiles = rows * columns;
    }

    struct Place {
        int row, column;
    };
    /// The block's part: its first row and column of C.
    __device__ __forceinline__ Place place(int tile) const {
        const int group = tile / (group_rows * columns), in_group = tile % (group_rows * columns);
        const int height = min(group_rows, rows - group * group_rows);
        const int rank = CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER;
        return {((group * group_rows + in_group % height) * CLUSTER_M + rank % CLUSTER_M) * BLOCK_M,
                (in_group / height * CLUSTER_N + rank / CLUSTER_M) * BLOCK_N};
    }

private:
    int rows, columns, group_rows;
};

template <int count>
__device__ __forceinline__ void release_registers() {
    if constexpr (count > 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void take_registers() {
    if constexpr (count > 0) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// Waits for all threads of the cluster, whichever way they came.
__device__ __forceinline__ void cluster_barrier_of_all() {
    if constexpr (CLUSTER > 1) {
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    }
}

/// Whether the copy engine can address the rows of a matrix.
__device__ __forceinline__ bool rows_are_aligned(const Element* matrix, long long stride) {
    return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && stride * sizeof(Element) % 16 == 0;
}
