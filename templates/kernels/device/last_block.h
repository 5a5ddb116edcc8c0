// Tells which of several blocks is the last one to finish, so that it can continue with what all of them wrote (CUDA
// C++ Programming Guide, "Memory Fence Functions").
#pragma once

/// Whether this block is the last of `blocks` to call this with `counter`, which is in global memory. All threads of a
/// block call it. The last block sees what the others wrote before their calls. The counter must be 0 before the first
/// call, and is 0 after the last.
__device__ __forceinline__ bool last_to_arrive(unsigned* counter, unsigned blocks) {
    __syncthreads();  // all threads of the block have written
    bool last = false;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        __threadfence();  // what was written is visible before the counter
        last = atomicAdd(counter, 1U) == blocks - 1;
        if (last) *counter = 0;
        __threadfence();  // nothing is read before the counter
    }
    return __syncthreads_or(last) != 0;
}
