// The main loop: accumulators += op(A) * op(B) over the k-tiles of a block.
#pragma once

#include "gemm/tensor_warp_tiled/fragments.h"
#include "gemm/tensor_warp_tiled/work_tile.h"

/// Multiplies the k-tile of a stage. `Fragments` is a class with the interface of Fragments in fragments.h. If
/// Fragments::PREFETCHES is true, the fragments of k-step s + 1 are loaded while those of k-step s are multiplied.
template <class Fragments>
__device__ __forceinline__ void multiply_stage(Accumulators& accumulators, const Element* stage, int warp_row,
                                               int warp_column) {
    if constexpr (Fragments::PREFETCHES) {
        Fragments fragments[2];
        fragments[0].load(stage, warp_row, warp_column, 0);
#pragma unroll
        for (int step = 0; step < K_STEPS; ++step) {
            if (step + 1 < K_STEPS) fragments[(step + 1) % 2].load(stage, warp_row, warp_column, step + 1);
            fragments[step % 2].multiply(accumulators);
        }
    } else {
#pragma unroll 1
        for (int step = 0; step < K_STEPS; ++step) {
            Fragments fragments;
            fragments.load(stage, warp_row, warp_column, step);
            fragments.multiply(accumulators);
        }
    }
}

/// Multiplies all k-tiles of a block, with asynchronous copies of BYTES bytes each: 16, or 4 for floats in rows that
/// are not aligned to 16 bytes. On return, the stages are no longer in use.
template <class Fragments, int BYTES>
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
        commit_copies();  // the group may be empty: wait_for_copies counts one group per k-tile
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i) start(i);
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();  // this k-tile is complete, and no thread reads the previous k-tile any more
        start(k_tile + STAGES - 1);
        multiply_stage<Fragments>(accumulators, shared + k_tile % STAGES * STAGE, warp_row, warp_column);
    }
    wait_for_copies<0>();
    __syncthreads();
}

/// Multiplies all k-tiles of a block without asynchronous copies: one k-tile at a time, in a single stage.
template <class Fragments>
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

/// Multiplies all k-tiles of a block, with the largest copies that the alignment of A and B allows.
template <class Fragments>
__device__ __forceinline__ void multiply_k_tiles(Accumulators& accumulators, Element* shared, const WorkTile& work,
                                                 const Element* A, long long lda, const Element* B, long long ldb,
                                                 int M, int N, int K) {
    const CopyA a(A, lda, work.row, M, work.k, K);
    const CopyB b(B, ldb, work.column, N, work.k, K);
    const int warp_row = work.warp_row, warp_column = work.warp_column;
    if (CopyA::is_aligned(A, lda) && CopyB::is_aligned(B, ldb)) {
        multiply_pipelined<Fragments, 16>(accumulators, shared, a, b, A, B, work.k_tiles, warp_row, warp_column);
    } else if constexpr (sizeof(Element) == 4) {
        multiply_pipelined<Fragments, 4>(accumulators, shared, a, b, A, B, work.k_tiles, warp_row, warp_column);
    } else {
        multiply_guarded<Fragments>(accumulators, shared, a, b, work.k_tiles, warp_row, warp_column);
    }
}
