// Asynchronous copies of data that a kernel reads only once, and loads of these data from shared memory. As for other
// asynchronous copies, threads wait with commit_copies() and wait_for_copies() of device/async_copy.h.
#pragma once

#include "device/async_copy.h"

/// Starts a copy of BYTES bytes (4, 8 or 16) from global to shared memory. Both addresses must be multiples of BYTES.
/// The copy makes the L2 cache fetch 128 bytes at a time. Copies of 16 bytes bypass the L1 cache.
template <int BYTES>
__device__ __forceinline__ void copy_once(void* to, const void* from) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "what the instruction copies");
#ifdef SMEMTUNE_COPIES_AT_ONCE
    __builtin_memcpy(__builtin_assume_aligned(to, BYTES), __builtin_assume_aligned(from, BYTES), BYTES);
#else
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(BYTES)
                     : "memory");
    }
#endif
}

/// Loads COUNT words of 4 bytes (2 or 4 words) in one instruction. `from` is aligned to 4 * COUNT bytes, and may point
/// to elements of any type.
template <int COUNT>
__device__ __forceinline__ void load_words(unsigned* to, const void* from) {
    static_assert(COUNT == 2 || COUNT == 4, "what one instruction loads");
#ifdef SMEMTUNE_HOST
    __builtin_memcpy(to, __builtin_assume_aligned(from, 4 * COUNT), 4 * COUNT);
#else
    if (COUNT == 4) {
        const uint4 four = *static_cast<const uint4*>(from);
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
        const uint2 two = *static_cast<const uint2*>(from);
        to[0] = two.x, to[1] = two.y;
    }
#endif
}
