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
