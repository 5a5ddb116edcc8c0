// Barriers in shared memory that count arriving threads and copied bytes (from compute capability 9.0 on; PTX ISA,
// "mbarrier"). A barrier goes through phases. Their parities are 0, 1, 0, 1, ... A phase ends when all expected threads
// have arrived and all expected bytes are copied.
#pragma once

using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Initialises a barrier, so that each phase expects `arrivals` arrivals. One thread must call this function, and then
/// fence_barriers(). Before other threads use the barrier, they must be synchronised with this thread, for example by
/// __syncthreads() or cluster_barrier().
__device__ __forceinline__ void init_barrier(Barrier* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Ends the use of a barrier, so that its memory can be used for something else. One thread calls it, when no thread
/// uses the barrier any more.
__device__ __forceinline__ void end_barrier(Barrier* barrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Makes initialised barriers visible to the copy engine (TMA) and to the other blocks of the cluster.
__device__ __forceinline__ void fence_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives at the barrier. The present phase then ends only after copies have written `bytes` more bytes.
__device__ __forceinline__ void arrive_and_expect(Barrier* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/// Arrives at a barrier of block `rank` of the cluster: the one at the same offset in shared memory as `barrier`.
__device__ __forceinline__ void arrive_at(Barrier* barrier, int rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(barrier)), "r"(rank));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

/// Waits until the phase with this parity has ended. Returns at once if the barrier is already in the next phase.
__device__ __forceinline__ void wait_for_phase(Barrier* barrier, int parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra.uni ended;\n"
        "bra.uni again;\n"
        "ended:\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}
