// Clusters: blocks that run at the same time and can read each other's shared memory (from compute capability 9.0 on;
// PTX ISA, "barrier.cluster", "mapa"). On older GPUs and on a CPU, every cluster has one block.
#pragma once

#if !defined(SMEMTUNE_HOST) && __CUDA_ARCH__ >= 900
#define SMEMTUNE_CLUSTERS
constexpr int MOST_BLOCKS_OF_A_CLUSTER = 16;
/// An attribute that follows a kernel's launch bounds. With it, `blocks` neighbouring blocks in x form a cluster. If
/// `blocks` is 1, each block is launched as a cluster of one.
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
constexpr int MOST_BLOCKS_OF_A_CLUSTER = 1;
#define CLUSTER_OF(blocks)
#endif

/// Returns this block's index in its cluster, from 0.
__device__ __forceinline__ int cluster_rank() {
    int rank = 0;
#ifdef SMEMTUNE_CLUSTERS
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/// Waits for all threads of the cluster. After the barrier, each thread sees what the others wrote before
/// the barrier.
__device__ __forceinline__ void cluster_barrier() {
#ifdef SMEMTUNE_CLUSTERS
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n"
        "barrier.cluster.wait.acquire.aligned;" ::
            : "memory");
#endif
}

/// Loads 16 bytes from the shared memory of block `rank` of the cluster. `from` points into this block's shared memory;
/// the bytes come from the same place in block `rank`. `from` is aligned to 16 bytes.
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
