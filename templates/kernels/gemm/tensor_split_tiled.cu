// tensor_split_tiled: C = alpha * op(A) * op(B) + beta * C of floats, as precise as FP32, on tensor cores (compute
// capability 8.0 and up). Any layout, shape, stride and pointer. The type is 3xtf32. No GPU has timed it yet.
//
// Tiles, fragments, shared memory, pipeline, edges, grid and split-K are those of tensor_warp_tiled, whose first page
// explains them; only the fragments and their products are other ones (tensor_split_tiled/split_fragments.h).
//
//
// THREE PRODUCTS FOR ONE
//
//     a = big + small + rest        bits of the significand of a
//                                   1 . . . . . . . . . . | . . . . . . . . . . . | .
//                                   big, 11 bits, nearest | small, 11 and a sign  | rest: 0 or 1 bit
//
//     a * b = small * big + big * small + big * big         left out: small * small, and the products of the rest
//
// With u = 2^-24, half of the last bit of a float: |small| <= 2^-11 |a| and |rest| <= 2 u |a|. So a product is wrong by
// 2 u for a, 2 u for b and 4 u for small * small at most: 8 u |a b|; 1.2 u in the root mean square of random numbers.
// These errors are independent of each other. In a sum of K products they grow like sqrt(K) u, as its terms do. The
// errors of an FP32 sum, one by one, grow like K u.
//
//
// SUMS
//
// Tensor cores multiply exactly, but cut sums off instead of rounding them. In a long sum that would be an error of
// about u / 2 of the partial sum at each step, always towards zero: K / 16 u in the end. So a sum of tensor cores is 8
// products long, each by its three. It starts from 0, and the small products come first. FP32 units add it to the
// accumulators, to nearest. That is one addition for each k-step instead of one for each product, so the additions err
// less than those of an FP32 kernel: an eighth as many. For 16 x 8 elements a k-step has 3 mma.sync and 4 additions of
// each lane.
//
//
// INFINITIES, NAN, THE LARGEST AND THE SMALLEST NUMBERS
//
// big = inf leaves small = inf - inf = NaN, and inf * small is NaN if small is 0. A finite number above 2^128 - 2^116
// becomes infinity as it is rounded. All of this makes NaN of the sums, and of nothing else. So a block that finds NaN
// among its sums forgets them and multiplies again, carefully (SplitFragments<true>) and slowly: the copies wait for
// the products. The result is that of IEEE 754, as BLAS says. Blocks without NaN pay a comparison of each sum, at the
// end.
//
// Partial results from 2^128 - 2^117 on, in the last bits before the largest float, may become infinite, because their
// first 11 bits may be rounded up.
//
// A small part below 2^-126 loses the bits below 2^-136, the least number of TF32: elements smaller than 2^-114 are
// exact to 2^-136, not to 24 bits. Sums and products keep the denormal numbers of FP32.
//
//
// REGISTERS
//
// Besides WARP_M * WARP_N / 32 accumulators, a lane holds the operands of a k-step, both parts of B's fragments and of
// one of A's, and the fresh sums of one row of fragments. WARP_M = 64, WARP_N = 32:
//
//     accumulators                 64      64 * 32 / 32
//     operands of a k-step         24      4 fragments of 4, 4 of 2
//     B in two parts               16      4 fragments of 2, twice
//     A in two parts                8      1 fragment of 4, twice
//     fresh sums                   16      4 fragments of 4
//     addresses, counters          56      more than tensor_warp_tiled has: the block may have to start again
//
// A prefetch of the next k-step would take another 24, so there is none: several warps hide each other's loads.
#include "gemm/tensor_split_tiled/split_fragments.h"
#include "gemm/tensor_warp_tiled/main_loop.h"
#include "gemm/tensor_warp_tiled/output.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    tensor_split_tiled(int M, int N, int K, float alpha, const Element* __restrict__ A, long long lda,
                       const Element* __restrict__ B, long long ldb, float beta, Element* __restrict__ C, long long ldc,
                       int GROUP_M, float* workspace) {
    Element* const shared = dynamic_shared<Element>();
    const WorkTile work(M, N, K, GROUP_M);
    Accumulators accumulators = {};
    multiply_k_tiles<SplitFragments<false>>(accumulators, shared, work, A, lda, B, ldb, M, N, K);
    if (block_has_nan(accumulators)) {
        accumulators = {};
        const CopyA a(A, lda, work.row, M, work.k, K);
        const CopyB b(B, ldb, work.column, N, work.k, K);
        multiply_guarded<SplitFragments<true>>(accumulators, shared, a, b, work.k_tiles, work.warp_row,
                                               work.warp_column);
    }
    write_tile(accumulators, work, alpha, beta, C, ldc, M, N, workspace);
}
