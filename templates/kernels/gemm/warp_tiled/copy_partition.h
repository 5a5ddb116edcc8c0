// Divides the copies of one operand's k-tile among the threads of a block.
#pragma once

#include "gemm/warp_tiled/shape.h"

/// In global memory, a k-tile of one operand consists of LINES lines, each contiguous. LENGTH copies make up a line.
/// The block copies LINES_PER_PASS lines in each of PASSES passes. LANES neighbouring threads share a line, and each
/// thread makes COPIES_PER_LINE of the line's copies. A thread's copies in a line are at constant distances, so the
/// thread needs only one pointer per pass.
///
///     copy i of thread t:   line  t / LANES + i / COPIES_PER_LINE * LINES_PER_PASS
///                           place t % LANES + i % COPIES_PER_LINE * LANES   in that line
///
/// WANTED_LANES is the smallest number of lanes whose accesses coalesce well. LANES starts as WANTED_LANES (or LENGTH,
/// if that is smaller). LANES is doubled as long as THREADS / LANES > LINES and 2 * LANES divides LENGTH.
template <int LINES, int LENGTH, int WANTED_LANES>
struct CopyPartition {
    static __device__ constexpr int lanes() {
        int threads = WANTED_LANES > LENGTH ? LENGTH : WANTED_LANES;
        while (THREADS / threads > LINES && LENGTH % (2 * threads) == 0) threads *= 2;
        return threads;
    }
    static constexpr int LANES = lanes();
    static constexpr int COPIES_PER_LINE = LENGTH / LANES;
    static_assert(LENGTH % LANES == 0, "the threads of a line share it evenly");
    static constexpr int LINES_PER_PASS = THREADS / LANES;
    static constexpr int PASSES = (LINES - 1) / LINES_PER_PASS + 1;
    static constexpr int COPIES = PASSES * COPIES_PER_LINE;
    static constexpr bool EVEN = LINES % LINES_PER_PASS == 0 && THREADS % LANES == 0;

    static __device__ __forceinline__ int first_line() { return threadIdx.x / LANES; }
    static __device__ __forceinline__ int lane() { return threadIdx.x % LANES; }
    /// Copy i belongs to line first_line() + line_offset(i), and its place in that line is lane() + lane_offset(i).
    static __device__ constexpr int line_offset(int i) { return i / COPIES_PER_LINE * LINES_PER_PASS; }
    static __device__ constexpr int lane_offset(int i) { return i % COPIES_PER_LINE * LANES; }
    /// Whether this thread makes copy i. If EVEN is false, some threads copy nothing in the last pass over the k-tile's
    /// lines, and the last THREADS % LANES threads of the block never copy anything.
    static __device__ __forceinline__ bool has(int i) {
        return EVEN || (first_line() < LINES_PER_PASS && first_line() + line_offset(i) < LINES);
    }
};
