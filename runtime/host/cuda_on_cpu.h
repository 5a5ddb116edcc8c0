// Gives CUDA's words their meaning on a CPU, for kernels that the host device compiles. Included ahead of the source.
//
// A block runs on one operating system thread and its threads are fibers there, so `__shared__` is thread-local.
// Dynamic shared memory comes from smemtune_dynamic_shared(): see templates/kernels/device/shared.h.
#pragma once

#include "layout.h"

#define SMEMTUNE_HOST 1
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
#define __shared__ static thread_local

using uint3 = SmemtuneIndex;
using dim3 = SmemtuneIndex;
struct float2 {
    alignas(8) float x;
    float y;
};
struct float4 {
    alignas(16) float x;
    float y, z, w;
};
struct int2 {
    alignas(8) int x;
    int y;
};
struct int4 {
    alignas(16) int x;
    int y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

namespace smemtune_host {

inline thread_local SmemtuneThread* current = nullptr;

}  // namespace smemtune_host

#define threadIdx (smemtune_host::current->thread)
#define blockIdx (smemtune_host::current->block)
#define blockDim (smemtune_host::current->block_size)
#define gridDim (smemtune_host::current->grid_size)
constexpr int warpSize = 32;

inline void __syncthreads() { smemtune_host::current->barrier(smemtune_host::current->scheduler); }
inline int __syncthreads_or(int predicate) {
    static thread_local int any;
    __syncthreads();  // nobody reads any more what the last call found
    any = 0;
    __syncthreads();
    if (predicate) any = 1;
    __syncthreads();
    return any;
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline int atomicAdd(int* address, int value) { return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST); }
inline unsigned atomicAdd(unsigned* address, unsigned value) {
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}
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
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fabsf(float a) { return __builtin_fabsf(a); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline float sqrtf(float a) { return __builtin_sqrtf(a); }
inline float expf(float a) { return __builtin_expf(a); }
inline bool isnan(double a) { return __builtin_isnan(a); }

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
