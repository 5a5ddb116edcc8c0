// Defines CUDA's keywords, variables and functions for kernels that are compiled for the CPU. The compiler includes
// this file before the kernel's source.
//
// All threads of a block are fibers of one operating system thread, so a `__shared__` variable is thread_local.
// Kernels get dynamic shared memory from smemtune_dynamic_shared() (templates/kernels/device/shared.h).
#pragma once

#include "host_device/cuda_vectors.h"
#include "host_device/current_thread.h"

#define SMEMTUNE_HOST 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
#define __shared__ thread_local  // implies static within functions; also allows `static __shared__`

#define threadIdx (smemtune_host::current->thread)
#define blockIdx (smemtune_host::current->block)
#define blockDim (smemtune_host::current->block_size)
#define gridDim (smemtune_host::current->grid_size)
constexpr int warpSize = 32;

inline void __syncthreads() { smemtune_host::current->barrier(smemtune_host::current->scheduler); }
inline int __syncthreads_or(int predicate) {
    static thread_local int any;
    __syncthreads();  // all threads have read the result of the previous call
    any = 0;
    __syncthreads();
    if (predicate) any = 1;
    __syncthreads();
    return any;
}
inline int __syncthreads_and(int predicate) { return !__syncthreads_or(!predicate); }
inline int __syncthreads_count(int predicate) {
    static thread_local int count;
    __syncthreads();
    count = 0;
    __syncthreads();
    if (predicate) ++count;
    __syncthreads();
    return count;
}
inline void __threadfence_block() {}
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void* smemtune_dynamic_shared() { return smemtune_host::current->dynamic_shared; }

template <class T>
inline T __ldg(const T* address) {
    return *address;
}
template <class T>
inline T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
inline T max(T a, T b) {
    return a < b ? b : a;
}
template <class A, class B>
inline auto min(A a, B b) -> decltype(true ? a : b) {
    return b < a ? b : a;
}
template <class A, class B>
inline auto max(A a, B b) -> decltype(true ? a : b) {
    return a < b ? b : a;
}

namespace smemtune_host {

template <class...>
struct Types {};

// Calls `kernel` with the values that `arguments` point to.
template <class Kernel, class... Values>
inline void call(Kernel* kernel, void* const*, Types<>, Values... values) {
    kernel(values...);
}
template <class Kernel, class First, class... Rest, class... Values>
inline void call(Kernel* kernel, void* const* arguments, Types<First, Rest...>, Values... values) {
    call(kernel, arguments + 1, Types<Rest...>{}, values..., *static_cast<First*>(*arguments));
}
template <class... Parameters>
inline void call(void (*kernel)(Parameters...), void* const* arguments) {
    call(kernel, arguments, Types<Parameters...>{});
}

}  // namespace smemtune_host

// These headers come last, because they use the declarations above.
#include "host_device/cuda_atomics.h"
#include "host_device/cuda_math.h"
#include "host_device/cuda_warp.h"
