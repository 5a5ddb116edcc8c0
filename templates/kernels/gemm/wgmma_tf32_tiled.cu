// wgmma_tf32_tiled: C = alpha * op(A) * op(B) + beta * C of floats, multiplied as TF32 numbers, on Hopper's tensor
// cores (compute capability 9.0 only). The matrices are row-major. Any layout, shape, stride and alignment is allowed.
// wgmma_split_tiled.cu is the variant whose products are as precise as FP32.
//
// Producer, consumers, stages, clusters, split-K and grid are those of wgmma_tiled; the top of wgmma_tiled.cu explains
// them. But the blocks of a cluster either share operands or split K. This page explains only the other differences.
// Reading order: this page, wgmma_tf32_tiled/stages.h, fragments.h (the operand in registers), consumer.h, output.h,
// prepare.h (copies in the workspace), product.h (the body).
//
//
// LEFT AND RIGHT
//
// wgmma reads TF32 operands from shared memory only if they are contiguous along K. But its left operand may come from
// registers, and a thread can load registers from any arrangement in shared memory. So the kernel computes D = left *
// right, where D is C or, in layout nn, the transpose of C. In the table, "along rows" means that neighbours in memory
// belong to neighbouring rows of D, and "along columns" means neighbouring columns of D:
//
//     layout    D      left, rows of D              right, columns of D
//     nn        C^T    B, contiguous along rows     A, contiguous along K
//     nt        C      A, along K                   B, along K
//     tt        C      A, along rows                B, along K
//     tn        C      A, along rows                B, along columns: transposed first (prepare.h)
//
//     left operand of a k-tile     ROWS x 32 for each consumer, loaded from shared memory into registers (fragments.h)
//     right operand of a k-tile    32 x BLOCK_N in shared memory: lines of 32 elements along K, swizzled
//
// While the tensor cores multiply a k-tile, a consumer loads the left operand of the next k-tile into registers
// (consumer.h).
//
//
// TF32
//
// An element is a float in memory. TF32 has 11 bits of significand. The left operand is rounded to TF32 in registers
// (cvt.rna.tf32.f32: to nearest, ties away from zero). If the right operand is transposed first (layout tn), its copy
// is rounded in the same way. Otherwise the tensor cores truncate its elements. Sums, alpha, beta and C are FP32.
// Tensor cores truncate sums, so a sum has at most 6144 products (LONGEST_SUM of the manifest). If K is larger, several
// blocks split K, or RESTARTS is 1. With RESTARTS = 1, a block computes several sums of each element, one after
// another. It writes the first sum to C, and adds the others to C. These additions flush subnormal numbers to 0. Also,
// alpha times one of the sums may be infinite although the total is finite.
//
//
// ROWS THAT ARE NOT ALIGNED
//
// If the length of an operand's rows (without padding) is not a multiple of 16 bytes, the workspace has room for a copy
// of the operand. If the copy engine (TMA) cannot address the operand, the blocks copy it there before the products, as
// in wgmma_tiled. If there is no room for the copy of an operand that the engine cannot address, the producer's threads
// copy the operand to the stages element by element, which is slow. C needs no alignment, because the consumers'
// threads write it from registers.
//
//
// ONE CONFIGURATION, WORKED THROUGH
//
//     BLOCK_M=128 BLOCK_N=256 STAGES=4 CONSUMERS=2, M = N = K = 4096
//
//     threads                    128 * (2 + 1)              384
//     sums of a thread           64 * 256 / 128             128
//     left operand of a thread   64 * 32 / 128, twice       32 registers
//     products of a k-tile       32 / 8 of 64 x 256 x 8     4 wgmma of each consumer, 1024 cycles of the tensor cores
//     stages                     4 * (128 + 256) * 32 * 4   196,608 bytes
//     shared memory per cycle    48 bytes written, 64 read by tensor cores, 16 read by threads; the limit is 128 bytes
#include "gemm/wgmma_tf32_tiled/product.h"

#if CLUSTER_M * CLUSTER_N * CLUSTER_K > 1
#define CLUSTER_DIMENSIONS CLUSTER_OF(CLUSTER_M* CLUSTER_N* CLUSTER_K)
#else
#define CLUSTER_DIMENSIONS
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) CLUSTER_DIMENSIONS
    wgmma_tf32_tiled(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B, long long ldb,
                     float beta, Element* C, long long ldc, int GROUP_M, const __grid_constant__ TensorMap A_TILES,
                     const __grid_constant__ TensorMap B_TILES, unsigned char* workspace) {
    const Matrix a{A, lda, M, K}, b{B, ldb, N, K};
    wgmma_tf32_product(M, N, alpha, TURNED ? b : a, TURNED ? a : b, beta, C, ldc, GROUP_M, TURNED ? B_TILES : A_TILES,
                       TURNED ? A_TILES : B_TILES, workspace);
}
