// Finds out which of several blocks finishes last. That block can then read what all of them wrote (CUDA C++
// Programming Guide, "Memory Fence Functions").
#pragma once

/// Returns whether this block is the last of `blocks` blocks that call the function with the same `counter`. All
/// threads of each block must call it, and all get the same result. The last block sees what the other blocks wrote
/// before their calls. `counter` is in global memory. It must be 0 before the first call, and it is 0 again after the
/// last call.
__device__ __forceinline__ bool last_to_arrive(unsigned* counter, unsigned blocks) {
    __syncthreads();  // all threads of this block have written their results
    bool last = false;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        __threadfence();  // other blocks see this block's results before they see the counter change
        last = atomicAdd(counter, 1U) == blocks - 1;
        if (last) *counter = 0;
        __threadfence();  // this block reads results of other blocks only after it has read the counter
    }
    return __syncthreads_or(last) != 0;
}
