// Fragments: the values of A and B that a thread holds in registers. `multiply` adds their outer product to the
// thread's accumulators. An FFMA is the machine instruction of one multiply-add.
#pragma once

#include "device/compiler_hints.h"
#include "gemm/warp_tiled/shape.h"

/// A thread's COUNT values of one operand for one k-step (step along K). There are two buffers: while the values in one
/// are multiplied, the other is loaded. In shared memory, each k-step is a row. A thread reads groups of 4 neighbouring
/// elements of the row, so each load has 16 bytes. The groups of a thread start 4 * LANES elements apart. The groups in
/// between belong to other lanes of the warp. Value i of a lane is this element of the row (`lane` is lane_m for A and
/// lane_n for B, see thread_coord.h):
///
///     element(lane, i) = 4 * lane + 4 * LANES * (i / 4) + i % 4
///
///     LANES = 4, COUNT = 8:   |lane 0|lane 1|lane 2|lane 3|lane 0|lane 1|lane 2|lane 3|
///                         i =  0..3   0..3   0..3   0..3   4..7   4..7   4..7   4..7
template <int STRIDE, int COUNT, int LANES>
struct Fragment {
    SharedAddress from;  // address of this thread's value 0 in its slice's first k-step, in the k-tile that is read
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

/// Loads the fragments of both operands for one k-step. The order of the loads decides the operand slots of an FFMA:
/// the compiler gives the lower register numbers to the operand that is loaded first, and puts the register with the
/// lower number into the first slot. The slots matter for speed, because an FFMA can keep an operand for the next FFMA
/// only in the same slot. The better order depends on the tile, so A_FIRST is tuned.
__device__ __forceinline__ void load_fragments(FragmentA& a, FragmentB& b, int step, int buffer, int opaque_true) {
    if (!A_FIRST) b.load(step, buffer, opaque_true);
    a.load(step, buffer, opaque_true);
    if (A_FIRST) b.load(step, buffer, opaque_true);
}

/// Loads dummy values into fragment buffer 1, right after the first load into buffer 0. This load makes the compiler
/// allocate the registers of both buffers before the main loop, one buffer after the other. The values are overwritten
/// before any use.
__device__ __forceinline__ void fix_register_order(FragmentA& a, FragmentB& b, int opaque_true) {
    load_fragments(a, b, 0, 1, opaque_true);
}

/// Adds one outer product: accumulators[m][n] += a[m] * b[n]. The order of the FFMAs is down one column and up the
/// next, so that each FFMA shares an operand with the previous FFMA:
///
///     n = 0: m = 0 1 2 .. last      n = 1: m = last .. 2 1 0      n = 2: m = 0 1 2 .. last      last = THREAD_M - 1
///
/// The reason: an FFMA has three operands, and each of the two register banks delivers one operand per cycle. An FFMA
/// takes one cycle if it keeps one operand of the previous FFMA (`.reuse`) and finds the other two in different banks.
/// Otherwise, three different operands take two cycles.
__device__ __forceinline__ void multiply(Element (&accumulators)[ACCUMULATORS], const FragmentA& a, const FragmentB& b,
                                         int buffer) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) {
        const int n = i / THREAD_M;
        const int m = n % 2 ? THREAD_M - 1 - i % THREAD_M : i % THREAD_M;
        accumulators[m * THREAD_N + n] += a.values[buffer][m] * b.values[buffer][n];
    }
}
