// batched_warp_tiled: the products of gemm/warp_tiles.h, one for each matrix of a batch.
//
// The grid's x counts the tiles of one C (times CLUSTER_K and SPLIT_K), its y the matrices, and z the rows of matrices
// where there are more than y can count. A loop over matrices instead, as in batched_tiled, would cost registers, which
// are all taken: what the iterations have in common is computed ahead of it, the place of every element of C among
// them. How a matrix is read depends on where it starts: a batch stride of whole vectors keeps all of them aligned.
#include "gemm/warp_tiles.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) CLUSTER_OF(CLUSTER_K)
    batched_warp_tiled(int BATCH, int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
                       long long stride_a, const Element* __restrict__ B, long long ldb, long long stride_b,
                       Element beta, Element* __restrict__ C, long long ldc, long long stride_c, int GROUP_M,
                       Element* workspace) {
    const long long matrix = blockIdx.y + static_cast<long long>(gridDim.y) * blockIdx.z;
    if (matrix >= BATCH) return;
    warp_tiled_product(M, N, K, alpha, A + matrix * stride_a, lda, B + matrix * stride_b, ldb, beta,
                       C + matrix * stride_c, ldc, GROUP_M, workspace, matrix);
}
