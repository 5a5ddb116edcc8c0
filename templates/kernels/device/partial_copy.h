// Asynchronous copies of 16 bytes, of which some may be missing at the edge of a matrix. commit_copies() and
// wait_for_copies() of device/async_copy.h are for them, too.
#pragma once

#include "device/async_copy.h"

/// Starts a copy of the first `bytes` of 16 bytes; what they leave of the 16 becomes zeros. Both addresses are
/// multiples of 16. With 0 bytes nothing is read.
__device__ __forceinline__ void copy_part_async(void* to, const void* from, int bytes) {
#ifdef SMEMTUNE_COPIES_AT_ONCE
    for (int i = 0; i < 16; ++i) {
        static_cast<unsigned char*>(to)[i] = i < bytes ? static_cast<const unsigned char*>(from)[i] : 0;
    }
#else
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
#endif
}
