// Programmatic dependent launch (from compute capability 9.0 on; PTX ISA, "griddepcontrol"): a kernel may start while
// the previous kernel of its stream still runs. Its launch then overlaps with the previous kernel. On older GPUs and on
// a CPU, wait_for_previous_kernel does nothing.
#pragma once

/// Waits until the previous kernel of the stream is complete and its writes are visible. All kernels before that one
/// are then complete, too, if each kernel of the stream calls this function or is launched without permission to start
/// early. After the wait, the function allows the next kernel to start as soon as all blocks of this kernel have called
/// the function.
///
/// A thread must call the function before its first access to global memory. In each launch, at least one thread must
/// call it, even if no thread accesses global memory. A thread may call it more than once. Data that the previous
/// kernel may write must not be read through pointers that are both const and __restrict__: the compiler may assume
/// that such data does not change.
///
/// `known` is a value that is needed right after the wait; it must not be negative. The wait depends on it, so the
/// compiler computes it before the wait. If `next_may_start` is false, the next kernel starts when this kernel has
/// ended; all threads must pass the same value.
///
/// The runtime starts a kernel early only if its cubin contains the variable below and a single kernel. The compiler
/// keeps the variable only if the kernel calls this function.
__device__ __forceinline__ void wait_for_previous_kernel(int known = 0, bool next_may_start = true) {
#if !defined(SMEMTUNE_HOST) && __CUDA_ARCH__ >= 900
    static unsigned char smemtune_waits_for_previous_kernel;
    // The next kernel may start only after this wait. If it could start earlier, waiting blocks of several kernels
    // would occupy the multiprocessors, and the blocks of each kernel would be distributed unevenly.
    asm volatile(
        "{\n"
        ".reg .pred always;\n"
        "setp.ge.s32 always, %1, 0;\n"
        "@always griddepcontrol.wait;  // %0\n"
        "}" ::"l"(&smemtune_waits_for_previous_kernel),
        "r"(known)
        : "memory");
    if (next_may_start) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#else
    static_cast<void>(known), static_cast<void>(next_may_start);
#endif
}

/// Whether the grid has no more blocks than the GPU has multiprocessors. If it has more, and several blocks fit on a
/// multiprocessor, the next kernel should not start early: the blocks of the next kernel would fill the free places, so
/// some multiprocessors would get more blocks than others.
__device__ __forceinline__ bool blocks_run_alone() {
#ifdef SMEMTUNE_HOST
    return false;
#else
    unsigned multiprocessors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
    return gridDim.x * gridDim.y * gridDim.z <= multiprocessors;
#endif
}
