// The epilogue: adds up the sums of split-K parts, and writes C.
#pragma once

#include "device/last_block.h"
#include "device/shared.h"
#include "device/vector.h"
#include "gemm/tensor_warp_tiled/fragments.h"
#include "gemm/tensor_warp_tiled/work_tile.h"

/// Adds up the sums of the SPLIT_K blocks that share a tile, in ascending order of `part`. The last of these blocks to
/// arrive gets the totals in `accumulators`, and the function returns true for it. It returns false for the others.
/// `tile_workspace` has the sums of all parts, then a counter.
__device__ __forceinline__ bool add_parts(Accumulators& accumulators, float* tile_workspace, int part) {
    constexpr int PART = BLOCK_M * BLOCK_N;
    // Returns the address of this thread's sums[i][j] in the workspace of a part. Neighbouring threads have
    // neighbouring addresses.
    const auto group = [&](int of_part, int i, int j) {
        return tile_workspace + of_part * PART + ((i * FRAGMENTS_N + j) * THREADS + static_cast<int>(threadIdx.x)) * 4;
    };
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N; ++j) store_four(group(part, i, j), accumulators.sums[i][j]);
    }
    if (!last_to_arrive(reinterpret_cast<unsigned*>(tile_workspace + SPLIT_K * PART), SPLIT_K)) return false;
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N; ++j) {
            load_four(accumulators.sums[i][j], group(0, i, j));
#pragma unroll 1
            for (int other = 1; other < SPLIT_K; ++other) {
                float four[4];
                load_four(four, group(other, i, j));
#pragma unroll
                for (int n = 0; n < 4; ++n) accumulators.sums[i][j][n] += four[n];
            }
        }
    }
    return true;
}

/// C = alpha * sums + beta * C for a warp's part of C, which starts at (row, column). The sums go through `strip` in
/// shared memory, 16 rows at a time, so that each lane can write a chunk (16 bytes) of a row. C is not read if beta is
/// 0.
__device__ __forceinline__ void write(const Accumulators& accumulators, float* strip, float alpha, float beta,
                                      Element* C, long long ldc, int row, int column, int M, int N) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const bool is_aligned = reinterpret_cast<unsigned long long>(C) % 16 == 0 && ldc % CHUNK == 0;
    const auto result = [&](float sum, const Element& c) {
        return from_float<Element>(beta == 0 ? alpha * sum : alpha * sum + beta * to_float(c));
    };
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
        __syncwarp();  // no lane reads the previous 16 rows any more
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N; ++j) {
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                strip[(g + n / 2 * 8) * STRIP_STRIDE + 8 * j + 2 * t + n % 2] = accumulators.sums[i][j][n];
            }
        }
        __syncwarp();
#pragma unroll 1
        for (int at = lane; at < 16 * WARP_N / CHUNK; at += 32) {
            const int line = at / (WARP_N / CHUNK), first = at % (WARP_N / CHUNK) * CHUNK;
            const int to_row = row + 16 * i + line, to_column = column + first;
            if (to_row >= M || to_column >= N) continue;
            const float* const sums = strip + line * STRIP_STRIDE + first;
            Element* const to = C + to_row * ldc + to_column;
            if (is_aligned && to_column + CHUNK <= N) {
                struct alignas(16) Chunk {
                    Element elements[CHUNK];
                } chunk = {};
                if (beta != 0) chunk = *reinterpret_cast<const Chunk*>(to);
#pragma unroll
                for (int n = 0; n < CHUNK; ++n) chunk.elements[n] = result(sums[n], chunk.elements[n]);
                *reinterpret_cast<Chunk*>(to) = chunk;
            } else {
#pragma unroll 1
                for (int n = 0; n < min(CHUNK, N - to_column); ++n) {
                    Element old{};
                    if (beta != 0) old = to[n];
                    to[n] = result(sums[n], old);
                }
            }
        }
    }
}

/// The epilogue of tensor_warp_tiled and tensor_split_tiled: adds up the sums of split-K parts, and writes C. It reuses
/// the shared memory of the stages.
__device__ __forceinline__ void write_tile(Accumulators& accumulators, const WorkTile& work, float alpha, float beta,
                                           Element* C, long long ldc, int M, int N, float* workspace) {
    float* const tile_workspace = workspace + static_cast<long long>(work.tile) * TILE_WORKSPACE;
    if (SPLIT_K > 1 && !add_parts(accumulators, tile_workspace, work.part)) return;
    float* const strip = dynamic_shared<float>() + threadIdx.x / 32 * 16 * STRIP_STRIDE;
    write(accumulators, strip, alpha, beta, C, ldc, work.row + work.warp_row, work.column + work.warp_column, M, N);
}
