// wgmma_split_tiled: C = alpha * op(A) * op(B) + beta * C of floats, as precise as FP32, on Hopper's tensor cores
// (compute capability 9.0 only). Any layout, shape, stride and alignment is allowed. smemtune calls the type 3xtf32.
//
// tensor_split_tiled.cu explains how three products of TF32 replace one of FP32, and how exact the result is.
// wgmma_tf32_tiled.cu explains the structure of this kernel. This page explains only the differences from both.
//
//
// TWO PLANES
//
//     x = big + small + rest       big: x rounded to 11 bits; small: (x - big) rounded to 11 bits
//
// The big plane has the `big` numbers of a matrix, the small plane the `small` ones. Before the products, in the same
// launch, the kernel splits the right operand and writes both planes to the workspace. They alternate along K: 32
// numbers of the big plane, the same 32 of the small plane, the next 32 of the big plane, ... (prepare.h). This copy of
// the right operand is contiguous along K in every layout, so the main loop always reads it in the same way. The left
// operand is split in registers.
//
//
// SUMS
//
// A consumer has two sets of sums: short sums and total sums. For each 8 k-steps, the tensor cores start the short sums
// from 0 and add up 3 * 8 products for each element, the small ones first: small * big, big * small, then big * big.
// Tensor cores truncate sums, so longer sums would be less precise than FP32. FP32 units add the short sums to the
// total sums, rounding to nearest. They add one half of the columns while the tensor cores multiply the other half
// (consumer.h).
//
//
// INFINITIES, NAN AND THE LARGEST NUMBERS
//
// An infinite element has small = inf - inf = NaN. A finite element of at least 2^128 - 2^116 is rounded to big = inf,
// and small = -inf. For each factor y, big * y + small * y is then NaN. So all sums with such elements are NaN. At the
// end, the thread that has a NaN sum computes this sum again without tensor cores, product by product
// (Output::write_plain_sums). The result is that of IEEE 754. This is slow, but it costs little if a matrix has few
// rows and columns with such elements.
//
// As in tensor_split_tiled, partial results from 2^128 - 2^117 on may become infinite, and elements smaller than 2^-114
// are exact only to 2^-136.
//
//
// ONE CONFIGURATION, WORKED THROUGH
//
//     BLOCK_M=128 BLOCK_N=128 STAGES=4 CONSUMERS=2, M = N = K = 4096
//
//     sums of a thread           64 * 128 / 128, twice       128
//     left operand of a thread   64 * 32 / 128 + 4 * 4       32: a k-tile, and both parts of 2 * 8 k-steps
//     products of a k-tile       2 * 3 * 32 / 8 of 64x64x8   24 wgmma of each consumer, 1536 cycles for both consumers
//     additions of a k-tile      4 * 64 * 128 / 128          256 of each thread, 512 cycles for both consumers
//     stages                     4 * (128 + 2 * 128) * 128   196,608 bytes
//     copy of the right operand  4096 * 4096 * (4 + 8)       67 MB are read, 134 MB written
#include "gemm/wgmma_tf32_tiled/product.h"

#if CLUSTER_M * CLUSTER_N * CLUSTER_K > 1
#define CLUSTER_DIMENSIONS CLUSTER_OF(CLUSTER_M* CLUSTER_N* CLUSTER_K)
#else
#define CLUSTER_DIMENSIONS
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) CLUSTER_DIMENSIONS
    wgmma_split_tiled(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B,
                      long long ldb, float beta, Element* C, long long ldc, int GROUP_M,
                      const __grid_constant__ TensorMap A_TILES, const __grid_constant__ TensorMap B_TILES,
                      unsigned char* workspace) {
    const Matrix a{A, lda, M, K}, b{B, ldb, N, K};
    wgmma_tf32_product(M, N, alpha, TURNED ? b : a, TURNED ? a : b, beta, C, ldc, GROUP_M, TURNED ? B_TILES : A_TILES,
                       TURNED ? A_TILES : B_TILES, workspace);
}
