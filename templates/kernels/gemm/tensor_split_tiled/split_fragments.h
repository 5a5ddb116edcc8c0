// Computes products of floats as three products of TF32 numbers: small * big + big * small + big * big.
#pragma once

#include "gemm/tensor_warp_tiled/fragments.h"

/// A float as the sum of two numbers: `big` is the float rounded to 11 bits, and `small` is float - big. The
/// subtraction is exact. `small` has up to 12 bits and a sign. Tensor cores read only 11 bits, so they drop the last
/// bit of 12. Rounding `small` to 11 bits here would cause an error of the same size.
struct Split {
    unsigned big, small;
};

__device__ __forceinline__ bool is_finite(unsigned word) { return (word & 0x7fffffffu) < 0x7f800000u; }

/// Splits a float. If the float is infinite or NaN, `small` is NaN. Rounding to 11 bits may make a finite float
/// infinite. If CAREFUL, such a float is truncated instead, and `small` has 13 bits. Otherwise `big` is infinite.
template <bool CAREFUL>
__device__ __forceinline__ Split split(unsigned word) {
    const float value = __uint_as_float(word);
    unsigned big = to_tf32(value);
    if (CAREFUL && !is_finite(big) && is_finite(word)) big = word & 0xffffe000u;
    return {big, __float_as_uint(value - __uint_as_float(big))};
}

/// The fragments of one k-step, with the same bits as in shared memory. multiply() splits them into big and small
/// parts. Tensor cores truncate sums, so the sums of each k-step start from 0, and FP32 units add them to the
/// accumulators, rounding to nearest.
///
/// The products small * big and big * small are called small products. With CAREFUL, a sum of small products that
/// is infinite or NaN is not added. Without CAREFUL, each element of C to which an infinite element contributes becomes
/// NaN.
template <bool CAREFUL>
struct SplitFragments : Operands {
    // The kernel needs no prefetch: while a warp waits for its loads, other warps multiply. Also, with a prefetch,
    // the loop over k-steps is unrolled. NVRTC 13.0 then mixes the products of different k-steps, and spills registers.
    static constexpr bool PREFETCHES = false;

    __device__ __forceinline__ void multiply(Accumulators& accumulators) const {
        unsigned big_b[FRAGMENTS_N][2], small_b[FRAGMENTS_N][2];
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N; ++j) {
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const Split parts = split<CAREFUL>(b[j / 2][j % 2 * 2 + n]);
                big_b[j][n] = parts.big;
                small_b[j][n] = parts.small;
            }
        }
#pragma unroll
        for (int i = 0; i < FRAGMENTS_M; ++i) {
            unsigned big_a[4], small_a[4];
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const Split parts = split<CAREFUL>(a[i][n]);
                big_a[n] = parts.big;
                small_a[n] = parts.small;
            }
            // The small products come first: if they were added to the sums of big * big, their last bits would be
            // truncated. Each kind of product is computed for all fragments of B before the next kind, because products
            // that are added to the same sums must wait for one another.
            float sums[FRAGMENTS_N][4] = {}, apart[FRAGMENTS_N][4] = {};
            float(&big_sums)[FRAGMENTS_N][4] = CAREFUL ? apart : sums;
#pragma unroll
            for (int j = 0; j < FRAGMENTS_N; ++j) multiply_add<Element>(sums[j], small_a, big_b[j][0], big_b[j][1]);
#pragma unroll
            for (int j = 0; j < FRAGMENTS_N; ++j) multiply_add<Element>(sums[j], big_a, small_b[j][0], small_b[j][1]);
#pragma unroll
            for (int j = 0; j < FRAGMENTS_N; ++j) multiply_add<Element>(big_sums[j], big_a, big_b[j][0], big_b[j][1]);
#pragma unroll
            for (int j = 0; j < FRAGMENTS_N; ++j) {
#pragma unroll
                for (int n = 0; n < 4; ++n) {
                    float sum = big_sums[j][n];
                    if (CAREFUL && is_finite(__float_as_uint(sums[j][n]))) sum += sums[j][n];
                    accumulators.sums[i][j][n] += sum;
                }
            }
        }
    }
};

/// Whether any sum of any thread of the block is NaN. All threads of the block must call the function, and get the same
/// result.
__device__ __forceinline__ bool block_has_nan(const Accumulators& accumulators) {
    bool has_nan = false;
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N; ++j) {
#pragma unroll
            for (int n = 0; n < 4; ++n) has_nan |= accumulators.sums[i][j][n] != accumulators.sums[i][j][n];
        }
    }
    return __syncthreads_or(has_nan) != 0;
}
