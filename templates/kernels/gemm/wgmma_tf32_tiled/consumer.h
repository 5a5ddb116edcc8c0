// The consumers: products of the k-tiles.
#pragma once

#include "gemm/wgmma_tf32_tiled/fragments.h"

/// Of a consumer's ROWS x BLOCK_N elements of D, as multiply_rows has them.
struct Sums {
    float values[BLOCKS_OF_64][BLOCK_N / 2];
};

/// Starts the products of some steps of a k-tile, of 8 k-steps each: sums += left * right, or sums = left * right if
/// `adds` is 0.
template <int COUNT>
__device__ __forceinline__ void multiply(Sums& sums, const Fragments& left, const Element* right, int first, int adds) {
    const auto tile = describe_tile(shared_address(right), 0);
#pragma unroll
    for (int step = first; step < first + COUNT; ++step) {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
            multiply_rows<BLOCK_N>(sums.values[i], left.words[i][step], tile + step * (8 * sizeof(Element) / 16),
                                   adds || step > first);
        }
    }
}

/// The k-tiles of one tile of D, for one consumer.
struct Consumer {
    Shared& shared;
    Pipeline& pipeline;
    int consumer, k_tiles;

    /// `sums` gets the sums of all k-tiles.
    __device__ __forceinline__ void consume(Sums& sums) const {
        if constexpr (PLANES == 2) {
            consume_split(sums);
        } else {
            consume_rounded(sums);
        }
    }

private:
    // The blocks whose copies go to this block's stages, too, wait for its consumers; thread i tells block i.
    __device__ __forceinline__ void leave(int stage) const {
        const int thread = threadIdx.x % WARPGROUP;
        if constexpr (SHARERS > 1) {
            if (thread < SHARERS) arrive_at(&shared.empty[stage], thread);
        } else {
            if (thread == 0) arrive(&shared.empty[stage]);
        }
    }

    __device__ __forceinline__ void load_next(Fragments& fragments) const {
        wait_for_phase(&shared.full[pipeline.stage], pipeline.parity);
        fragments.load(shared.a[pipeline.stage], consumer);
    }

    __device__ __forceinline__ void keep(Sums& sums) const {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) keep_order(sums.values[i]);
    }

    // While a k-tile is multiplied, the rows of the next one are loaded. Two sets of registers take turns, because the
    // tensor cores read them as they multiply.
    __device__ __forceinline__ void consume_rounded(Sums& sums) const {
        Fragments fragments[2];
        int previous = 0;
        const auto step = [&](int tile, Fragments& now, Fragments& next) {
            fence_sums();
            multiply<STEPS>(sums, now, shared.b[pipeline.stage], 0, tile > 0);
            commit_products();
            const int stage = pipeline.stage;
            pipeline.advance();
            if (tile > 0) {
                wait_for_products<1>();  // those of the k-tile before, which read `next`
                leave(previous);
            }
            previous = stage;
            if (tile + 1 < k_tiles) {
                load_next(next);
                next.round();
            }
        };
        load_next(fragments[0]);
        fragments[0].round();
        for (int tile = 0; tile < k_tiles; tile += 2) {
            step(tile, fragments[0], fragments[1]);
            if (tile + 1 < k_tiles) step(tile + 1, fragments[1], fragments[0]);
        }
        wait_for_products<0>();
        keep(sums);
        leave(previous);
    }

    // A sum of tensor cores has 8 * SUM_STEPS products of each kind and starts from 0, small ones first, because tensor
    // cores cut sums off. FP32 units add it to the others. Meanwhile the other consumer's products keep the tensor
    // cores busy.
    __device__ __forceinline__ void consume_split(Sums& sums) const {
        constexpr int SUM_STEPS = 2;  // 4 are faster, but less precise than FP32; 1 is slower
        static_assert(STEPS % SUM_STEPS == 0, "whole sums in a k-tile");
        Fragments next;
        load_next(next);
        sums = {};
        for (int tile = 0; tile < k_tiles; ++tile) {
            Fragments big = next, small;
            big.split(small);
            const int stage = pipeline.stage;
            const Element *const big_b = shared.b[stage], *const small_b = big_b + BLOCK_N * BLOCK_K;
#pragma unroll
            for (int first = 0; first < STEPS; first += SUM_STEPS) {
                const bool is_last = first + SUM_STEPS == STEPS;
                Sums fresh;
                fence_sums();
                multiply<SUM_STEPS>(fresh, small, big_b, first, 0);
                multiply<SUM_STEPS>(fresh, big, small_b, first, 1);
                multiply<SUM_STEPS>(fresh, big, big_b, first, 1);
                commit_products();
                if (is_last) {
                    pipeline.advance();
                    if (tile + 1 < k_tiles) load_next(next);
                }
                wait_for_products<0>();
                keep(fresh);
                if (is_last) leave(stage);
#pragma unroll
                for (int i = 0; i < BLOCKS_OF_64; ++i) {
#pragma unroll
                    for (int n = 0; n < BLOCK_N / 2; ++n) sums.values[i][n] += fresh.values[i][n];
                }
            }
        }
    }
};
