// Work that comes before the products, for all blocks of the grid, which then wait for one another.
//
// No block may wait for a block that does not run yet: other kernels may hold the multiprocessors. So the work is cut
// into tasks that running blocks take one after another. When the last task is taken, all tasks are done or in the
// hands of blocks that run.
#pragma once

#include "gemm/wgmma_tiled/work.h"

constexpr int WARPS = THREADS / 32;

__device__ __forceinline__ unsigned load_acquire(const unsigned* from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/// Shows writes to global memory, this thread's and those that it has acquired, to the copy engine.
__device__ __forceinline__ void fence_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// Of `pieces` of work for all warps of the grid: how many a warp does in a task, at most `most`, so that blocks have
/// equally many tasks.
__device__ __forceinline__ int share_of_warp(int pieces, int most) {
    const int warps = WARPS * static_cast<int>(gridDim.x), rounds = (pieces - 1) / (most * warps) + 1;
    return (pieces - 1) / (rounds * warps) + 1;
}

/// Calls do_task(number) for each task, by all threads of one block. On return, all tasks of all blocks are done, and
/// the copy engine may read what they wrote. `note` is in shared memory.
template <class Task>
__device__ __forceinline__ void do_tasks(int& note, int tasks, RepackCounters* counters, const Task& do_task) {
    unsigned next = 0, done = 0;
    if (threadIdx.x == 0) note = atomicAdd(&counters->taken, 1U);
    __syncthreads();
    for (int task = note; task < tasks; task = note, ++done) {
        if (threadIdx.x == 0) next = atomicAdd(&counters->taken, 1U);  // its latency is that of the task
        do_task(task);
        __syncthreads();  // the task's number was read
        if (threadIdx.x == 0) note = next;
        __syncthreads();
    }
    fence_global();
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&counters->done, done);
        while (load_acquire(&counters->done) < tasks) __nanosleep(20);
        // The last block to come this far is the last to look at the counters.
        if (atomicAdd(&counters->left, 1U) == gridDim.x - 1) *counters = {};
    }
    __syncthreads();
    fence_global();
}
