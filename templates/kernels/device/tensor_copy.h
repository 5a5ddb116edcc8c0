// Copies whole tiles between global and shared memory with the copy engine, TMA (from compute capability 9.0 on; PTX
// ISA, "cp.async.bulk.tensor"). A tensor map describes a matrix: its address and size, the size of a tile, and the
// arrangement of a tile in shared memory. [[tensor_map]] in the manifest declares a tensor map. A single thread starts
// a copy.
#pragma once

#include "device/mbarrier.h"

/// A tensor map, as cuTensorMapEncodeTiled of the CUDA driver writes it.
struct alignas(128) TensorMap {
    unsigned long long words[16];
};

/// Prefetches the tensor map before its first use. This reads the map only, not the matrix.
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts the copy of a tile to shared memory. The first element of the tile is at `column` and `row` of the matrix.
/// `barrier` counts the copied bytes. Elements beyond the matrix become zeros, and their bytes are counted, too.
__device__ __forceinline__ void copy_tile(void* to, const TensorMap& map, int column, int row, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared_address(to)),
        "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// Starts the copy of `bytes` contiguous bytes to shared memory. `barrier` counts them. Both addresses and `bytes` are
/// multiples of 16. The L2 cache evicts these bytes first, so use this function for data that is read once.
__device__ __forceinline__ void copy_bytes_once(void* to, unsigned long long from, unsigned bytes, Barrier* barrier) {
    asm volatile(
        "{\n"
        ".reg .b64 first_to_go;\n"
        "createpolicy.fractional.L2::evict_first.b64 first_to_go, 1.0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
        "first_to_go;\n"
        "}" ::"r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/// Starts the copy of a tile to several blocks of the cluster: bit r of `blocks` stands for the block with rank r. In
/// each of these blocks, the tile is written to the offset of `to` in shared memory, and the barrier at the offset of
/// `barrier` counts the bytes. The other arguments are those of copy_tile.
__device__ __forceinline__ void copy_tile_to(int blocks, void* to, const TensorMap& map, int column, int row,
                                             Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
        "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(static_cast<unsigned short>(blocks))
        : "memory");
}

/// Starts the copy of a tile from shared memory to the matrix. Elements beyond the matrix are not written. Before the
/// call, each thread that wrote to the tile must call fence_shared(), and then these threads must pass a barrier.
__device__ __forceinline__ void store_tile(const TensorMap& map, int column, int row, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(column),
                 "r"(row), "r"(shared_address(from))
                 : "memory");
}

/// Makes one group of all tile stores that this thread started since it last called commit_stores().
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all of this thread's groups of stores, except the newest `pending`, have read their shared memory. The
/// shared memory may then be overwritten.
template <int pending>
__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

/// Makes this thread's writes to shared memory visible to the copy engine (TMA) and the tensor cores (wgmma).
__device__ __forceinline__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
