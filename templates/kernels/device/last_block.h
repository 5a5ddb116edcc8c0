// Finds out which of several blocks is done last, for it to go on with what all of them wrote (CUDA C++ Programming
// Guide, "Memory Fence Functions").
#pragma once

/// Whether this block is the last of `blocks` that call this with `counter`, in global memory; for all threads of a
/// block. The last one sees what the others wrote before. The counter is 0 before the first call, and after the last.
__device__ __forceinline__ bool last_to_arrive(unsigned* counter, unsigned blocks) {
    __syncthreads();  // everything is written
    bool last = false;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        __threadfence();  // seen by all before the counter
        last = atomicAdd(counter, 1U) == blocks - 1;
        if (last) *counter = 0;
        __threadfence();  // nothing is read before
    }
    return __syncthreads_or(last) != 0;
}
