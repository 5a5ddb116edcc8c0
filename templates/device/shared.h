// A block's dynamic shared memory.
#pragma once

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
