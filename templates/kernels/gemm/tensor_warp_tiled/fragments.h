// The registers of a warp: its fragments of A and B, and the sums of its threads.
#pragma once

#include "gemm/tensor_warp_tiled/tile.h"

constexpr bool A_K_MAJOR = !TRANSPOSE_A, B_K_MAJOR = TRANSPOSE_B;
using TileA = Tile<BLOCK_M, A_K_MAJOR>;
using TileB = Tile<BLOCK_N, B_K_MAJOR>;
using CopyA = TileCopy<TileA, A_K_MAJOR>;
using CopyB = TileCopy<TileB, B_K_MAJOR>;
constexpr int STAGE = TileA::ELEMENTS + TileB::ELEMENTS;
constexpr int K_STEPS = BLOCK_K / STEP;
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "whole warps tile a block");
static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && BLOCK_K % STEP == 0, "fragments of 16 x STEP");
constexpr int FRAGMENTS_M = WARP_M / 16, FRAGMENTS_N = WARP_N / 8;  // numbers of a warp's fragments of A and of B

/// A thread's sums, in the order of multiply_add.
struct Accumulators {
    float sums[FRAGMENTS_M][FRAGMENTS_N][4];
};

/// The fragments of one k-step, with the same bits as in shared memory. b[j] holds two fragments of B.
struct Operands {
    unsigned a[FRAGMENTS_M][4], b[FRAGMENTS_N / 2][4];

    __device__ __forceinline__ void load(const Element* stage, int warp_row, int warp_column, int step) {
#pragma unroll
        for (int i = 0; i < FRAGMENTS_M; ++i) TileA::load<true>(a[i], stage, warp_row + 16 * i, step);
#pragma unroll
        for (int j = 0; j < FRAGMENTS_N / 2; ++j) {
            TileB::load<false>(b[j], stage + TileA::ELEMENTS, warp_column + 16 * j, step);
        }
    }
};

/// The fragments of one k-step in the format of the tensor cores. Elements of tf32 are rounded when they are loaded.
struct Fragments : Operands {
    static constexpr bool PREFETCHES = true;

    __device__ __forceinline__ void load(const Element* stage, int warp_row, int warp_column, int step) {
        Operands::load(stage, warp_row, warp_column, step);
        if constexpr (sizeof(Element) == 4) {
#pragma unroll
            for (int n = 0; n < 4; ++n) {
#pragma unroll
                for (int i = 0; i < FRAGMENTS_M; ++i) a[i][n] = to_tf32(__uint_as_float(a[i][n]));
#pragma unroll
                for (int j = 0; j < FRAGMENTS_N / 2; ++j) b[j][n] = to_tf32(__uint_as_float(b[j][n]));
            }
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
