// Barriers in shared memory that count arriving threads and arriving bytes (compute capability 9.0 on; PTX ISA,
// "mbarrier"). A barrier goes through phases; its parity is 0 in the first one, then 1, 0, ... A phase ends when all
// expected arrivals and bytes are there.
#pragma once

using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// One thread prepares each barrier for `arrivals` in each phase. fence_barriers() and a barrier of the block, or of
/// the cluster, come before its first use.
__device__ __forceinline__ void init_barrier(Barrier* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Shows initialised barriers to the copy engine and to the cluster.
__device__ __forceinline__ void fence_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and lets the phase wait for `bytes` more that copies write.
__device__ __forceinline__ void arrive_and_expect(Barrier* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/// Arrives at the barrier that block `rank` of the cluster has in the place of `barrier`.
__device__ __forceinline__ void arrive_at(Barrier* barrier, int rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(barrier)), "r"(rank));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

/// Waits for the end of the phase with this parity. Returns at once if the barrier is in a later phase.
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
