// Copies of whole tiles between global and shared memory by the copy engine, TMA (compute capability 9.0 on; PTX ISA,
// "cp.async.bulk.tensor"). A tensor map says where the matrix is, how large it is, how large a tile, and how a tile is
// arranged in shared memory; the manifest's [[tensor_map]] declares it. One thread starts a copy.
#pragma once

#include "device/mbarrier.h"

/// As cuTensorMapEncodeTiled writes it.
struct alignas(128) TensorMap {
    unsigned long long words[16];
};

/// Fetches the map itself ahead of its first use.
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts the copy of the tile whose first element is in this column and row. `barrier` counts its bytes. What lies
/// beyond the matrix becomes zeros and is counted, too.
__device__ __forceinline__ void copy_tile(void* to, const TensorMap& map, int column, int row, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared_address(to)),
        "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// The same into all blocks of the cluster whose bits are in `blocks`: in each of them at the place of `to`, counted by
/// the barrier at the place of `barrier`.
__device__ __forceinline__ void copy_tile_to(int blocks, void* to, const TensorMap& map, int column, int row,
                                             Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
        "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(static_cast<unsigned short>(blocks))
        : "memory");
}

/// Starts the copy of a tile from shared memory to the matrix; what lies beyond the matrix is not written. The writes
/// to shared memory came before fence_shared(), of each thread that wrote, and a barrier.
__device__ __forceinline__ void store_tile(const TensorMap& map, int column, int row, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(column),
                 "r"(row), "r"(shared_address(from))
                 : "memory");
}

/// The stores that this thread started since the last call are one group.
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but `pending` of this thread's groups have read their shared memory.
template <int pending>
__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

/// Shows this thread's writes to shared memory to the copy engine and the tensor cores.
__device__ __forceinline__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
