// The consumers: products of the k-tiles.
#pragma once

#include "gemm/wgmma_tf32_tiled/fragments.h"

/// Of a consumer's ROWS x BLOCK_N elements of D, as multiply_rows has them.
struct Sums {
    float values[BLOCKS_OF_64][BLOCK_N / 2];
};

/// Starts the products of 8 k-steps of a k-tile, `step` of them: sums += left * right, or sums = left * right if `adds`
/// is 0.
__device__ __forceinline__ void multiply_step(Sums& sums, const Fragments& left, const Element* right, int step,
                                              int adds) {
    const auto tile = describe_tile(shared_address(right), 0) + step * (8 * sizeof(Element) / 16);
#pragma unroll
    for (int i = 0; i < BLOCKS_OF_64; ++i) multiply_rows<BLOCK_N>(sums.values[i], left.words[i][step], tile, adds);
}

/// The same for a whole k-tile.
__device__ __forceinline__ void multiply(Sums& sums, const Fragments& left, const Element* right, int adds) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) multiply_step(sums, left, right, step, adds || step > 0);
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
            multiply(sums, now, shared.b[pipeline.stage], tile > 0);
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

    // A sum of tensor cores has 8 products of each kind and starts from 0, small ones first, because tensor cores cut
    // sums off. FP32 units add it to the others. Meanwhile the other consumer's products keep the tensor cores busy.
    __device__ __forceinline__ void consume_split(Sums& sums) const {
        Fragments next;
        load_next(next);
        sums = {};
        for (int tile = 0; tile < k_tiles; ++tile) {
            Fragments big = next, small;
            big.split(small);
            const int stage = pipeline.stage;
            const Element *const big_b = shared.b[stage], *const small_b = big_b + BLOCK_N * BLOCK_K;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                Sums fresh;
                fence_sums();
                multiply_step(fresh, small, big_b, step, 0);
                multiply_step(fresh, big, small_b, step, 1);
                multiply_step(fresh, big, big_b, step, 1);
                commit_products();
                if (step == STEPS - 1) {
                    pipeline.advance();
                    if (tile + 1 < k_tiles) load_next(next);
                }
                wait_for_products<0>();
                keep(fresh);
                if (step == STEPS - 1) leave(stage);
#pragma unroll
                for (int i = 0; i < BLOCKS_OF_64; ++i) {
#pragma unroll
                    for (int n = 0; n < BLOCK_N / 2; ++n) sums.values[i][n] += fresh.values[i][n];
                }
            }
        }
    }
};
