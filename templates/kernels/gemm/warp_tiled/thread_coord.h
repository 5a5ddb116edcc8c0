// Which elements of the block's tile belong to a thread.
#pragma once

#include "gemm/warp_tiled/fragment.h"
#include "gemm/warp_tiled/shape.h"

/// The position of a thread in its block:
///
///     threadIdx.x = (slice * SLICE_WARPS + warp) * 32 + lane
///
/// `slice`: The thread multiplies k-steps slice * SLICE_STEPS .. (slice + 1) * SLICE_STEPS - 1 of each k-tile.
/// `warp`:  The warp computes a WARP_M x WARP_N part of the tile: row warp / WARPS_N, column warp % WARPS_N of the
///          grid of warps.
/// `lane`:  The lane has a place in the warp's LANES_M x LANES_N grid of lanes. Lanes with equal lane_m read the same
///          values of A, and lanes with equal lane_n the same values of B. Shared memory broadcasts such values.
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
/// LANE_PAIRS decides how many distinct values 8 neighbouring lanes read together. Shared memory delivers 128 bytes at
/// once: 16 bytes for each of 8 lanes. In this example, lanes 0..7 read 1 group of 4 elements of A and 8 groups of B if
/// LANE_PAIRS is 0, but 2 groups of A and 4 groups of B if LANE_PAIRS is 1. Neither value is always faster, so
/// LANE_PAIRS is tuned.
struct ThreadCoord {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32 % SLICE_WARPS;
    int slice = threadIdx.x / 32 / SLICE_WARPS;
    int lane_m = LANE_PAIRS ? lane / (2 * LANES_N) * 2 + lane % 2 : lane / LANES_N;
    int lane_n = LANE_PAIRS ? lane / 2 % LANES_N : lane % LANES_N;

    /// Returns the row, in the block's tile, of the thread's accumulators with row index m, 0 <= m < THREAD_M.
    __device__ __forceinline__ int row(int m) const { return warp / WARPS_N * WARP_M + FragmentA::element(lane_m, m); }
    /// Returns the column, in the block's tile, of the thread's accumulators with column index n, 0 <= n < THREAD_N.
    __device__ __forceinline__ int column(int n) const {
        return warp % WARPS_N * WARP_N + FragmentB::element(lane_n, n);
    }
};
