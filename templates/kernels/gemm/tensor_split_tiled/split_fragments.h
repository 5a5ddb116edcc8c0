// Products of floats as three products of numbers of TF32: small * big + big * small + big * big.
#pragma once

#include "gemm/tensor_warp_tiled/fragments.h"

/// A float as two numbers that tensor cores take: its first 11 bits, to nearest, and what these leave. The subtraction
/// is exact. `small` has up to 12 bits and a sign. Tensor cores cut its last bit off if there are 12; rounding it here
/// to 11 bits would change it as much.
struct Split {
    unsigned big, small;
};

__device__ __forceinline__ bool is_finite(unsigned word) { return (word & 0x7fffffffu) < 0x7f800000u; }

/// An infinity or NaN leaves NaN. So does a finite number that rounding makes infinite, unless CAREFUL: then its other
/// bits are cut off, and `small` has 13 bits.
template <bool CAREFUL>
__device__ __forceinline__ Split split(unsigned word) {
    const float value = __uint_as_float(word);
    unsigned big = to_tf32(value);
    if (CAREFUL && !is_finite(big) && is_finite(word)) big = word & 0xffffe000u;
    return {big, __float_as_uint(value - __uint_as_float(big))};
}

/// Fragments as they are in shared memory, which multiply() splits. Tensor cores cut sums off, so each k-step has sums
/// of its own, from 0 on. FP32 units add them to the accumulators, rounded to nearest. An infinity makes NaN of all
/// sums that it is part of, unless CAREFUL: then small products that are not finite do not count.
template <bool CAREFUL>
struct SplitFragments : Operands {
    // Other warps hide the loads. NVRTC 13.0 would mix the products of k-steps that it unrolls until it spills.
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
            // The small products first: big ones would hide their last bits. One product of all fragments before the
            // next one of any: those of a fragment wait for each other.
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

/// Whether a sum of the block is NaN; for all of its threads.
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
