// tensor_split_tiled: C = alpha * op(A) * op(B) + beta * C of floats, as precise as FP32, on tensor cores (compute
// capability 8.0 and up). Any layout, shape, stride and alignment is allowed. smemtune calls this element type 3xtf32.
//
// Tiles, shared memory, pipeline, edges, grid and split-K are those of tensor_warp_tiled; the top of
// tensor_warp_tiled.cu explains them. Only the fragments and their products differ
// (tensor_split_tiled/split_fragments.h).
//
//
// THREE PRODUCTS FOR ONE
//
//     a = big + small + rest        bits of the significand of a
//                                   1 . . . . . . . . . . | . . . . . . . . . . . | .
//                                   big, 11 bits, nearest | small, 11 and a sign  | rest: 0 or 1 bit
//
//     a * b = small * big + big * small + big * big         omitted: small * small, and the products of the rest
//
// Let u = 2^-24, the unit roundoff of FP32. Then |small| <= 2^-11 |a| and |rest| <= 2 u |a|. The relative error of a
// product is at most 2 u from the rest of a, 2 u from the rest of b and 4 u from small * small: 8 u together. For
// random numbers, the root mean square of this error is 1.2 u. The errors of different products are independent, so the
// error of a sum of K products grows like sqrt(K) u. The sum itself also grows like sqrt(K), so its relative error does
// not grow. In comparison, the error of an FP32 sum that adds the products one by one grows like K u.
//
//
// SUMS
//
// Tensor cores multiply exactly, but truncate sums instead of rounding them. Each addition of 8 products to a long sum
// would have an error of about u / 2 times the partial sum, always towards zero. The K / 8 additions would have an
// error of (K / 16) u together. So the tensor cores only form short sums, one for each k-step (8 elements along K). A
// short sum starts from 0 and adds up 8 products of each of the three kinds: first small * big and big * small, then
// big * big. FP32 units add the short sums to the accumulators, rounding to nearest. That is one addition per k-step,
// an eighth as many as in an FP32 kernel, so the error of the additions is smaller. For 16 x 8 elements of C, a k-step
// has 3 mma.sync and 4 additions of each lane.
//
//
// INFINITIES, NAN, THE LARGEST AND THE SMALLEST NUMBERS
//
// If an element is infinite, big = inf and small = inf - inf = NaN. Also, big * small is NaN if the `small` part of the
// other factor is 0. A finite element of at least 2^128 - 2^116 is rounded to big = inf, so small = -inf. For each
// factor x, big * x + small * x is then NaN. In all these cases, the sums with such elements become NaN. A block that
// finds a NaN among its sums discards all its sums and multiplies again with SplitFragments<true>, which handles these
// cases. This is slow, because copies and products do not overlap. The result is that of IEEE 754, as BLAS demands. In
// a block without NaN, the only cost is one comparison of each sum at the end.
//
// A partial result of at least 2^128 - 2^117, which is slightly less than the largest float, may become infinite: the
// `big` parts may be rounded up, so big * big may exceed the product of the elements.
//
// The smallest number of TF32 is 2^-136. A `small` part below 2^-126 loses its bits below 2^-136. So elements smaller
// than 2^-114 are exact to 2^-136, not to 24 bits. Sums and products keep subnormal numbers of FP32.
//
//
// REGISTERS
//
// A lane holds WARP_M * WARP_N / 32 accumulators and the operands of a k-step. It also holds both parts (big and small)
// of all fragments of B and of one fragment of A, and the short sums of one row of fragments. For WARP_M = 64 and
// WARP_N = 32:
//
//     accumulators                 64      64 * 32 / 32
//     operands of a k-step         24      4 fragments of 4, 4 of 2
//     B in two parts               16      4 fragments of 2, twice
//     A in two parts                8      1 fragment of 4, twice
//     short sums                   16      4 fragments of 4
//     addresses, counters          56      more than in tensor_warp_tiled, because a block may have to multiply again
//
// Prefetching the next k-step would take another 24 registers. So the kernel does not prefetch: while a warp waits for
// its loads, other warps multiply.
#include "device/dependent_launch.h"
#include "gemm/tensor_split_tiled/split_fragments.h"
#include "gemm/tensor_warp_tiled/main_loop.h"
#include "gemm/tensor_warp_tiled/output.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    tensor_split_tiled(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B,
                       long long ldb, float beta, Element* C, long long ldc, int GROUP_M, float* workspace) {
    wait_for_previous_kernel();
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
