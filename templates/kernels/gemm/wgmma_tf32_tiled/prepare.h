// Copies operands to the workspace in a form that the copy engine and wgmma can use. All blocks of the grid do this
// before the products (gemm/wgmma_tiled/tasks.h).
//
// If PREPARES_RIGHT, the copy of the right operand has one row for each column of the operand. The row is contiguous
// along K, as wgmma needs it. Elements are rounded to TF32 (`big`). If PLANES is 2, the copy also has element - big,
// rounded to TF32 (`small`): 32 numbers of the big plane, the same 32 of the small plane, the next 32 of the big plane,
// and so on. Zeros fill the last group of 32. A warp copies 32 x 32 elements at once.
//
// The left operand, and without PREPARES_RIGHT also the right one, is copied only if its rows do not begin at multiples
// of 16 bytes. The copy has the same elements in the same order as the operand (repack.h).
#pragma once

#include "gemm/wgmma_tf32_tiled/fragments.h"
#include "gemm/wgmma_tiled/repack.h"

/// The right operand, and the place of its copy in the workspace.
struct Prepared {
    Matrix from;
    float* copy;

    __device__ __forceinline__ int k_tiles() const { return from.K / BLOCK_K + (from.K % BLOCK_K > 0); }
    __device__ __forceinline__ int column_tiles() const { return (from.sides - 1) / 32 + 1; }
    __device__ __forceinline__ int units() const { return k_tiles() * column_tiles(); }
    __device__ __forceinline__ long long bytes() const {
        return static_cast<long long>(from.sides) * k_tiles() * (PLANES * BLOCK_K * sizeof(float));
    }

    /// Copies unit `unit` with one warp. A unit is 32 k-steps of 32 columns of the right operand. `exchange` has 1024
    /// floats in shared memory for this warp only.
    __device__ __forceinline__ void copy_unit(int unit, float* exchange) const {
        const int lane = threadIdx.x % 32;
        // Units are numbered so that neighbouring warps read neighbouring memory.
        const int k_tile = RIGHT_ALONG_COLUMNS ? unit / column_tiles() : unit % k_tiles();
        const int first = (RIGHT_ALONG_COLUMNS ? unit % column_tiles() : unit / k_tiles()) * 32;
        const int k = k_tile * BLOCK_K;
        float values[32];
        if constexpr (RIGHT_ALONG_COLUMNS) {  // each lane loads one column
            const Element* const line = from.elements + k * from.leading + first + lane;
            const int count = first + lane < from.sides ? min(from.K - k, 32) : 0;
#pragma unroll
            for (int i = 0; i < 32; ++i) values[i] = i < count ? line[i * from.leading] : 0;
            __syncwarp();  // all lanes have read the previous unit's elements from `exchange`
#pragma unroll
            for (int i = 0; i < 32; ++i) exchange[i * 32 + (lane ^ i)] = values[i];
            __syncwarp();
#pragma unroll
            for (int i = 0; i < 32; ++i) values[i] = exchange[lane * 32 + (i ^ lane)];
        } else {  // each lane loads one k-step
            const Element* const line = from.elements + first * from.leading + k + lane;
            const int count = k + lane < from.K ? min(from.sides - first, 32) : 0;
#pragma unroll
            for (int i = 0; i < 32; ++i) values[i] = i < count ? line[i * from.leading] : 0;
        }
        const long long stride = static_cast<long long>(k_tiles()) * (PLANES * BLOCK_K);
        float* const to = copy + first * stride + k_tile * (PLANES * BLOCK_K) + lane;
        const int columns = from.sides - first;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            if (i >= columns) break;
            const float big = __uint_as_float(to_tf32(values[i]));
            to[i * stride] = big;
            if (PLANES == 2) to[i * stride + BLOCK_K] = __uint_as_float(to_tf32(values[i] - big));
        }
    }
};

/// Copies the left operand (only if `units` > 0) and the right operand. On return, the copy engine may read the copies.
__device__ __forceinline__ void prepare(Shared& shared, const Repacked& left, int units, const Prepared& right,
                                        RepackCounters* counters) {
    static_assert(!PREPARES_RIGHT || sizeof(shared.a) + sizeof(shared.b) >= WARPS * 1024 * sizeof(float),
                  "room for the exchange");
    // A warp copies one piece at a time: one unit of the right operand (32 x 32 elements), or LEFT_UNITS units of the
    // left operand (repack.h).
    constexpr int LEFT_UNITS = 8;
    const int left_pieces = (units + LEFT_UNITS - 1) / LEFT_UNITS, pieces = left_pieces + right.units();
    if (pieces == 0) return;
    const int pieces_of_warp = share_of_warp(pieces, 4), warp = threadIdx.x / 32;
    const int tasks = (pieces - 1) / (pieces_of_warp * WARPS) + 1;
    do_tasks(shared.note, tasks, counters, [&](int task) {
#pragma unroll 1
        for (int i = 0; i < pieces_of_warp; ++i) {
            const int piece = (task * pieces_of_warp + i) * WARPS + warp;
            if (piece < left_pieces) {
                const int first = piece * LEFT_UNITS;
                copy_units(shared, left, first, 1, min(LEFT_UNITS, units - first));
            } else if (piece < pieces) {
                right.copy_unit(piece - left_pieces, reinterpret_cast<float*>(stages_of_warp(shared)));
            }
        }
    });
    fence_shared();  // the copy engine will write to the shared memory of `exchange`
}
