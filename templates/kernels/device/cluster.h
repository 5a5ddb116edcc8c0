// Clusters: blocks that run at the same time and reach each other's shared memory (compute capability 9.0 on; PTX ISA,
// "barrier.cluster", "mapa"). Elsewhere a block is a cluster of its own.
#pragma once

#if !defined(SMEMTUNE_HOST) && __CUDA_ARCH__ >= 900
#define SMEMTUNE_CLUSTERS
constexpr int MOST_BLOCKS_OF_A_CLUSTER = 16;
/// After a kernel's launch bounds: so many blocks, neighbours in x, are a cluster; one, too, is launched as such.
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
constexpr int MOST_BLOCKS_OF_A_CLUSTER = 1;
#define CLUSTER_OF(blocks)
#endif

/// This block's number in its cluster.
__device__ __forceinline__ int cluster_rank() {
    int rank = 0;
#ifdef SMEMTUNE_CLUSTERS
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/// Waits for all threads of the cluster, and shows what they wrote to each other.
__device__ __forceinline__ void cluster_barrier() {
#ifdef SMEMTUNE_CLUSTERS
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n"
        "barrier.cluster.wait.acquire.aligned;" ::
            : "memory");
#endif
}

/// Reads 16 bytes that stand in block `rank` where `from` is in this one, in shared memory; aligned to them.
__device__ __forceinline__ void load_four_of(int rank, float* to, const float* from) {
#ifdef SMEMTUNE_CLUSTERS
    const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(from));
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(there)
                 : "memory");
#else
    for (int i = 0; i < 4; ++i) to[i] = from[i];
#endif
}
