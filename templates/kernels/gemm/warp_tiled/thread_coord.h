// Which elements of the block's tile belong to a thread.
#pragma once

#include "gemm/warp_tiled/fragment.h"
#include "gemm/warp_tiled/shape.h"

/// Where a thread is in its block:
///
///     threadIdx.x = (slice * SLICE_WARPS + warp) * 32 + lane
///
/// `slice`: which k-steps of a k-tile it takes: slice * SLICE_STEPS .. (slice + 1) * SLICE_STEPS - 1.
/// `warp`:  which WARP_M x WARP_N part of the tile: row warp / WARPS_N, column warp % WARPS_N of the grid of warps.
/// `lane`:  which place in the LANES_M x LANES_N grid of the warp's threads. Lanes that share lane_m read the same
///          values of A, lanes that share lane_n the same values of B: shared memory broadcasts them.
///
/// The grid of lanes for LANES_M = 4 (so LANES_N = 8), lane_m downwards and lane_n to the right:
///
///     LANE_PAIRS = 0                       LANE_PAIRS = 1
///     lane_m = lane / LANES_N              lane_m = lane / (2 * LANES_N) * 2 + lane % 2
///     lane_n = lane % LANES_N              lane_n = lane / 2 % LANES_N
///      0  1  2  3  4  5  6  7               0  2  4  6  8 10 12 14
///      8  9 10 11 12 13 14 15               1  3  5  7  9 11 13 15
///     16 17 18 19 20 21 22 23              16 18 20 22 24 26 28 30
///     24 25 26 27 28 29 30 31              17 19 21 23 25 27 29 31
///
/// LANE_PAIRS decides what 8 neighbouring lanes read together. Shared memory delivers 128 bytes at once: 16 bytes for
/// each of 8 lanes. In the example lanes 0..7 read 1 group of A and 8 groups of B if LANE_PAIRS is 0, and 2 groups of A
/// and 4 of B if it is 1. Neither is always faster, so it is tuned.
struct ThreadCoord {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32 % SLICE_WARPS;
    int slice = threadIdx.x / 32 / SLICE_WARPS;
    int lane_m = LANE_PAIRS ? lane / (2 * LANES_N) * 2 + lane % 2 : lane / LANES_N;
    int lane_n = LANE_PAIRS ? lane / 2 % LANES_N : lane % LANES_N;

    /// The row in the tile of the thread's m-th row of accumulators, 0 <= m < THREAD_M.
    __device__ __forceinline__ int row(int m) const { return warp / WARPS_N * WARP_M + FragmentA::element(lane_m, m); }
    /// The column in the tile of its n-th column of accumulators, 0 <= n < THREAD_N.
    __device__ __forceinline__ int column(int n) const {
        return warp % WARPS_N * WARP_N + FragmentB::element(lane_n, n);
    }
};
