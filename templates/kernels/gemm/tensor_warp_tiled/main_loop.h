// accumulators += op(A) * op(B) over the k-tiles of a block.
#pragma once

#include "gemm/tensor_warp_tiled/tile.h"

constexpr bool A_K_MAJOR = !TRANSPOSE_A, B_K_MAJOR = TRANSPOSE_B;
using TileA = Tile<BLOCK_M, A_K_MAJOR>;
using TileB = Tile<BLOCK_N, B_K_MAJOR>;
using CopyA = TileCopy<TileA, A_K_MAJOR>;
using CopyB = TileCopy<TileB, B_K_MAJOR>;
constexpr int STAGE = TileA::ELEMENTS + TileB::ELEMENTS;
constexpr int K_STEPS = BLOCK_K / STEP;
constexpr int FRAGMENTS_M = WARP_M / 16, FRAGMENTS_N = WARP_N / 8;  // of a warp: 16 rows, 8 columns each

/// The sums of a thread.
struct Accumulators {
    float sums[FRAGMENTS_M][FRAGMENTS_N][4];
};

/// What a warp multiplies in one k-step: two fragments of B in each four registers.
struct Fragments {
    unsigned a[FRAGMENTS_M][4], b[FRAGMENTS_N / 2][4];

    __device__ __forceinline__ void load(const Element* stage, int warp_row, int warp_column, int step) {
#pragma unroll
        for (int i = 0; i < FRAGMENTS_M; ++i) TileA::load<true>(a[i], stage, warp_row + 16 * i, step);
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N / 2; ++j) {
            TileB::load<false>(b[j], stage + TileA::ELEMENTS, warp_column + 16 * j, step);
        }
    }
    __device__ __forceinline__ void multiply(Accumulators& accumulators) const {
#pragma unroll
        for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
            for (int j = 0; j < FRAGMENTS_N; ++j) {
                multiply_add<Element>(accumulators.sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }
};

/// Multiplies the k-tile of a stage. While a k-step is multiplied, the fragments of the next one are loaded.
__device__ __forceinline__ void multiply_stage(Accumulators& accumulators, const Element* stage, int warp_row,
                                               int warp_column) {
    Fragments fragments[2];
    fragments[0].load(stage, warp_row, warp_column, 0);
#pragma unroll
    for (int step = 0; step < K_STEPS; ++step) {
        if (step + 1 < K_STEPS) fragments[(step + 1) % 2].load(stage, warp_row, warp_column, step + 1);
        fragments[step % 2].multiply(accumulators);
    }
}

/// With asynchronous copies of BYTES: 16, or 4 for floats in rows that are not aligned to 16. Afterwards shared memory
/// is free.
template <int BYTES>
__device__ __forceinline__ void multiply_pipelined(Accumulators& accumulators, Element* shared, CopyA a, CopyB b,
                                                   const Element* A, const Element* B, int k_tiles, int warp_row,
                                                   int warp_column) {
    const auto start = [&](int k_tile) {
        if (k_tile < k_tiles) {
            Element* const stage = shared + k_tile % STAGES * STAGE;
            a.start<BYTES>(stage, A);
            b.start<BYTES>(stage + TileA::ELEMENTS, B);
            a.advance();
            b.advance();
        }
        commit_copies();  // a group for each k-tile, also an empty one: waiting counts groups
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i) start(i);
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();  // the k-tile is complete, and nobody reads the one before it any more
        start(k_tile + STAGES - 1);
        multiply_stage(accumulators, shared + k_tile % STAGES * STAGE, warp_row, warp_column);
    }
    wait_for_copies<0>();
    __syncthreads();
}

/// For operands that cannot be copied asynchronously: one stage, one k-tile after another.
__device__ __forceinline__ void multiply_guarded(Accumulators& accumulators, Element* shared, CopyA a, CopyB b,
                                                 int k_tiles, int warp_row, int warp_column) {
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        a.copy_elements(shared);
        b.copy_elements(shared + TileA::ELEMENTS);
        a.advance();
        b.advance();
        __syncthreads();
#pragma unroll 1
        for (int step = 0; step < K_STEPS; ++step) {
            Fragments fragments;
            fragments.load(shared, warp_row, warp_column, step);
            fragments.multiply(accumulators);
        }
        __syncthreads();
    }
}
