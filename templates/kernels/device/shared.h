// Access to a block's dynamic shared memory.
#pragma once

/// Returns the start of the block's dynamic shared memory, aligned to 16 bytes. The launch decides its size.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
#ifdef SMEMTUNE_HOST
    return static_cast<T*>(smemtune_dynamic_shared());
#else
    extern __shared__ float4 shared_memory[];
    return reinterpret_cast<T*>(shared_memory);
#endif
}
