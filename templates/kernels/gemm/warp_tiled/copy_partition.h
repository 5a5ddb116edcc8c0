// How the threads of a block share the copies of one operand's k-tile.
#pragma once

#include "gemm/warp_tiled/shape.h"

/// In global memory a k-tile is LINES lines of LENGTH copies. LANES neighbouring threads share a line, and the block
/// copies LINES_PER_PASS lines in each of PASSES passes. A thread needs one pointer per pass: its COPIES_PER_LINE
/// copies in that line are at constant distances.
///
///     copy i of thread t:   line  t / LANES + i / COPIES_PER_LINE * LINES_PER_PASS
///                           place t % LANES + i % COPIES_PER_LINE * LANES   in that line
///
/// LANES is at least WANTED_LANES, the least number whose accesses coalesce well. It doubles as long as the block has
/// more groups of threads than lines.
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
    /// The line and place of copy i, relative to first_line() and lane().
    static __device__ constexpr int line_offset(int i) { return i / COPIES_PER_LINE * LINES_PER_PASS; }
    static __device__ constexpr int lane_offset(int i) { return i % COPIES_PER_LINE * LANES; }
    /// Whether this thread makes copy i: the last pass, or the last threads, may have no line.
    static __device__ __forceinline__ bool has(int i) {
        return EVEN || (first_line() < LINES_PER_PASS && first_line() + line_offset(i) < LINES);
    }
};
