// Asynchronous copies from global to shared memory: a thread starts a copy now and waits for it later (PTX ISA,
// "cp.async"). Before compute capability 8.0, and on a CPU, the functions below are ordinary, synchronous copies.
#pragma once

#if defined(SMEMTUNE_HOST) || __CUDA_ARCH__ < 800
#define SMEMTUNE_COPIES_AT_ONCE
#endif

/// Starts a copy of `bytes` bytes (4 or 16). Both addresses must be multiples of `bytes`. If `wanted` is false, the
/// copy reads nothing and writes zeros.
template <int bytes>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool wanted = true) {
    static_assert(bytes == 4 || bytes == 16, "what the instruction offers to one element, and to a vector of four");
#ifdef SMEMTUNE_COPIES_AT_ONCE
    for (int i = 0; i < bytes / 4; ++i) to[i] = wanted ? from[i] : 0;
#else
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int read = wanted ? bytes : 0;
    if (bytes == 16) {  // this instruction bypasses the L1 cache
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(read) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(read) : "memory");
    }
#endif
}

/// Makes one group of all copies that this thread started since it last called commit_copies().
__device__ __forceinline__ void commit_copies() {
#ifndef SMEMTUNE_COPIES_AT_ONCE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all groups of this thread are complete except the newest `pending` ones. Other threads see the copied
/// data after the next barrier.
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
#ifndef SMEMTUNE_COPIES_AT_ONCE
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}
