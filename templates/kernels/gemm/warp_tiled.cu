// warp_tiled: tiles for blocks, warps and threads, fed by a pipeline of asynchronous copies. gemm/warp_tiled/README.md
// explains the kernel. gemm/warp_tiled/product.h contains the body of the kernel.
#include "gemm/warp_tiled/product.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) CLUSTER_OF(CLUSTER_K)
    warp_tiled(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, long long ldb,
               Element beta, Element* __restrict__ C, long long ldc, int GROUP_M, Element* workspace) {
    warp_tiled_product(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, GROUP_M, workspace);
}
