// Some work must be complete before the products start. This file divides such work among all blocks of the grid, and
// waits until all of it is done.
//
// A block must not wait for a block that does not run yet, because other kernels may occupy the multiprocessors. So the
// work consists of tasks that running blocks take one after another. Once the last task is taken, every task is done or
// is being done by a running block. Waiting for the rest is then safe.
#pragma once

#include "gemm/wgmma_tiled/work.h"

constexpr int WARPS = THREADS / 32;

/// Makes writes to global memory visible to the copy engine (TMA): the writes of this thread, and all writes of other
/// threads that are already visible to this thread.
__device__ __forceinline__ void fence_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// Returns how many pieces of work a warp does in each task, if there are `pieces` pieces in all. The number is at most
/// `most`, and gives all blocks about equally many tasks.
__device__ __forceinline__ int share_of_warp(int pieces, int most) {
    const int warps = WARPS * static_cast<int>(gridDim.x), rounds = (pieces - 1) / (most * warps) + 1;
    return (pieces - 1) / (rounds * warps) + 1;
}

/// Does the tasks 0 .. tasks - 1. All threads of all blocks of the grid must call it. Each task is done by one block,
/// whose threads all call do_task(number). On return, all tasks are done, and the copy engine may read what they wrote.
/// `note` is in shared memory.
template <class Task>
__device__ __forceinline__ void do_tasks(int& note, int tasks, RepackCounters* counters, const Task& do_task) {
    unsigned next = 0, done = 0;
    if (threadIdx.x == 0) note = atomicAdd(&counters->taken, 1U);
    __syncthreads();
    for (int task = note; task < tasks; task = note, ++done) {
        if (threadIdx.x == 0) next = atomicAdd(&counters->taken, 1U);  // the latency overlaps with do_task
        do_task(task);
        __syncthreads();  // all threads have read the number of this task from `note`
        if (threadIdx.x == 0) note = next;
        __syncthreads();
    }
    fence_global();
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&counters->done, done);
        while (load_acquire(&counters->done) < tasks) __nanosleep(20);
    }
    __syncthreads();
    fence_global();
    // The last block to get here resets the counters. No other block reads them any more.
    if (threadIdx.x == 0 && atomicAdd(&counters->left, 1U) == gridDim.x - 1) *counters = {};
}
