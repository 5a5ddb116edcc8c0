// batched_warp_tiled: computes each product of a batch like warp_tiled (gemm/warp_tiled/README.md).
//
// blockIdx.x has the same meaning as in warp_tiled. A block computes product blockIdx.y + gridDim.y * blockIdx.z of the
// batch. A loop over the products, as in batched_tiled, would need registers, and warp_tiled already uses all of them.
// Copies of 16 bytes need matrices that start at multiples of 16 bytes, so such copies are possible only if the batch
// strides are multiples of 4 elements.
#include "gemm/warp_tiled/product.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) CLUSTER_OF(CLUSTER_K)
    batched_warp_tiled(int BATCH, int M, int N, int K, Element alpha, const Element* A, long long lda,
                       long long stride_a, const Element* B, long long ldb, long long stride_b, Element beta,
                       Element* __restrict__ C, long long ldc, long long stride_c, int GROUP_M, Element* workspace) {
    const long long matrix = blockIdx.y + static_cast<long long>(gridDim.y) * blockIdx.z;
    if (matrix >= BATCH) return;
    warp_tiled_product(M, N, K, alpha, A + matrix * stride_a, lda, B + matrix * stride_b, ldb, beta,
                       C + matrix * stride_c, ldc, GROUP_M, workspace, matrix);
}
