// batched_warp_tiled: warp_tiled (gemm/warp_tiled/README.md) for each matrix of a batch.
//
// The grid: x is that of warp_tiled, y counts the matrices, and z continues where a batch has more matrices than y can
// count. A loop over matrices, as in batched_tiled, would cost registers, and warp_tiled uses all of them. The strides
// of the batch decide whether a matrix can be read by 16 bytes: multiples of 4 elements keep every matrix aligned.
#include "gemm/warp_tiled/product.h"

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
