// The values of A and B that a thread holds in registers, and the outer product that it adds to its accumulators. An
// FFMA is the machine instruction of one multiply-add.
#pragma once

#include "device/compiler_hints.h"
#include "gemm/warp_tiled/shape.h"

/// A thread's COUNT values of one operand for one k-step (step along K), in two buffers: while one is multiplied, the
/// other is loaded. In a k-step's row of shared memory a thread owns groups of 4 neighbouring elements, so that each
/// load is 16 bytes. The groups are 4 * LANES apart; the groups in between belong to the other lanes of the warp:
///
///     element(lane, i) = 4 * lane + 4 * LANES * (i / 4) + i % 4
///
///     LANES = 4, COUNT = 8:   |lane 0|lane 1|lane 2|lane 3|lane 0|lane 1|lane 2|lane 3|
///                         i =  0..3   0..3   0..3   0..3   4..7   4..7   4..7   4..7
template <int STRIDE, int COUNT, int LANES>
struct Fragment {
    SharedAddress from;  // k-step 0 of the k-tile that is read, this thread's element 0
    Element values[2][COUNT] = {};

    static __device__ __forceinline__ int element(int lane, int i) { return lane * 4 + i / 4 * 4 * LANES + i % 4; }

    __device__ __forceinline__ void load(int step, int buffer, int opaque_true) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            load_four_in_place(opaque_true, &values[buffer][i], from + (step * STRIDE + i * LANES));
        }
    }
};

using FragmentA = Fragment<STRIDE_A, THREAD_M, LANES_M>;
using FragmentB = Fragment<STRIDE_B, THREAD_N, LANES_N>;

/// Loads one k-step of both operands. The order of the loads decides only the numbers of the registers: the compiler
/// gives lower numbers to the operand that is loaded first. An FFMA keeps an operand for the next FFMA only in the same
/// operand slot, so the numbers matter. The better order differs between tiles, so A_FIRST is tuned.
__device__ __forceinline__ void load_fragments(FragmentA& a, FragmentB& b, int step, int buffer, int opaque_true) {
    if (!A_FIRST) b.load(step, buffer, opaque_true);
    a.load(step, buffer, opaque_true);
    if (A_FIRST) b.load(step, buffer, opaque_true);
}

/// A dummy load into buffer 1, right after the first load into buffer 0. It fixes the order in which registers are
/// allocated; its values are overwritten before they are used.
__device__ __forceinline__ void fix_register_order(FragmentA& a, FragmentB& b, int opaque_true) {
    load_fragments(a, b, 0, 1, opaque_true);
}

/// accumulators[m][n] += a[m] * b[n], one outer product. It goes column by column, down one and up the next, so that
/// each FFMA shares an operand with the one before it:
///
///     n = 0: m = 0 1 2 .. M-1      n = 1: m = M-1 .. 2 1 0      n = 2: m = 0 1 2 .. M-1      ...
///
/// An FFMA has three operands, and the two register banks deliver one read each per cycle. So with three different
/// operands it needs two cycles, unless one is held back from the FFMA before (`.reuse`) and the other two lie in
/// different banks.
__device__ __forceinline__ void multiply(Element (&accumulators)[ACCUMULATORS], const FragmentA& a, const FragmentB& b,
                                         int buffer) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) {
        const int n = i / THREAD_M;
        const int m = n % 2 ? THREAD_M - 1 - i % THREAD_M : i % THREAD_M;
        accumulators[m * THREAD_N + n] += a.values[buffer][m] * b.values[buffer][n];
    }
}
