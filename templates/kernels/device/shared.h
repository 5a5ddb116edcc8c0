// A block's dynamic shared memory, and addresses in it.
#pragma once

#include "device/vector.h"

/// The start of the dynamic shared memory that the launch asked for, aligned to 16 bytes.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
#ifdef SMEMTUNE_HOST
    return static_cast<T*>(smemtune_dynamic_shared());
#else
    extern __shared__ float4 shared_memory[];
    return reinterpret_cast<T*>(shared_memory);
#endif
}

/// The same address in shared memory, kept in a register: where registers are scarce the compiler computes an address
/// anew for each use, from the thread's number on, unless it comes from where it cannot look.
template <class T>
__device__ __forceinline__ T* kept(T* address) {
#ifdef SMEMTUNE_HOST
    return address;
#else
    const auto narrow = static_cast<unsigned>(__cvta_generic_to_shared(address));
    return static_cast<T*>(__cvta_shared_to_generic(__shfl_sync(0xffffffffu, narrow, threadIdx.x % 32)));
#endif
}

/// A place in shared memory, by its address there: 32 bits, to which an instruction adds what is constant. To a pointer
/// of 64 bits the compiler may add in instructions of their own.
struct SharedPlace {
#ifdef SMEMTUNE_HOST
    const float* at;
    explicit SharedPlace(const float* pointer) : at(pointer) {}
    SharedPlace operator+(int elements) const { return SharedPlace(at + elements); }
#else
    unsigned at;
    explicit __device__ __forceinline__ SharedPlace(const float* pointer)
        : at(static_cast<unsigned>(__cvta_generic_to_shared(pointer))) {}
    __device__ __forceinline__ SharedPlace operator+(int elements) const {
        SharedPlace sum = *this;
        sum.at += 4 * elements;
        return sum;
    }
#endif
};

/// Reads 16 bytes, aligned to them, into registers that hold other values until then. `sure` must be positive, which
/// the compiler must not know: from a read that may not happen it can only conclude that those registers are to be
/// overwritten. Otherwise it gives every read registers of its own, moves sums out of their way, and loses sight of the
/// banks that registers lie in.
__device__ __forceinline__ void load_four_in_place(int sure, float* to, SharedPlace from) {
#ifdef SMEMTUNE_HOST
    if (sure > 0) load_four(to, from.at);
#else
    asm volatile(
        "{\n"
        ".reg .pred sure;\n"
        "setp.gt.s32 sure, %5, 0;\n"
        "@sure ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
        "}"
        : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
        : "r"(from.at), "r"(sure)
        : "memory");
#endif
}
