// Asynchronous copies of 16 bytes. Bytes beyond the edge of a matrix become zeros. As for other asynchronous copies,
// threads wait with commit_copies() and wait_for_copies() of device/async_copy.h.
#pragma once

#include "device/async_copy.h"

/// Starts a copy of `bytes` bytes, 0 to 16, and writes zeros to the rest of the 16 bytes at `to`. Both addresses must
/// be multiples of 16. If `bytes` is 0, nothing is read.
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
