// The consumers: the warpgroups that multiply the k-tiles.
#pragma once

#include "gemm/wgmma_tf32_tiled/fragments.h"

static_assert(SHARERS == 1 || CLUSTER_K == 1, "a cluster shares operands or K");
static_assert(SPLIT_K == 1 || CLUSTER_K > 1, "clusters add up first");

// Distances in the units of describe_tile, which are 16 bytes: from one instruction's 8 k-steps to the next 8, and from
// the first half of the columns to the second half.
constexpr int STEP_OF_TILE = 8 * sizeof(Element) / 16;
constexpr int HALF_OF_TILE = BLOCK_N / 2 * BLOCK_K * sizeof(Element) / 16;

/// A thread's part of the sums of its consumer, which computes ROWS x BLOCK_N elements of D. values[i] belongs to rows
/// i * 64 .. i * 64 + 63, in the order of multiply_rows.
struct Sums {
    float values[BLOCKS_OF_64][BLOCK_N / 2];
};

/// Starts the products of a k-tile: sums += left * right, or sums = left * right if `adds` is 0.
__device__ __forceinline__ void multiply(Sums& sums, const Fragments& left, const Element* right, int adds) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const auto tile = describe_tile(shared_address(right), 0) + step * STEP_OF_TILE;
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
            multiply_rows<BLOCK_N>(sums.values[i], left.words[i][step], tile, adds || step > 0);
        }
    }
}

/// A thread's sums for 8 k-steps and for half of the columns, in the order of multiply_rows.
struct HalfOfColumns {
    float values[BLOCKS_OF_64][BLOCK_N / 4];

    /// Starts the products: values += left * right, or values = left * right if `adds` is 0. `right` is the descriptor
    /// of a tile of 8 k-steps and BLOCK_N / 2 columns.
    __device__ __forceinline__ void multiply(const StepFragments& left, unsigned long long right, int adds) {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) multiply_rows<BLOCK_N / 2>(values[i], left.words[i], right, adds);
    }

    /// Adds `values` to the first half of `sums` if `half` is 0, to the second half if it is 1. The products of
    /// `values` must be complete.
    __device__ __forceinline__ void add_to(Sums& sums, int half) {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
            keep_order(values[i]);
#pragma unroll
            for (int n = 0; n < BLOCK_N / 4; ++n) sums.values[i][half * (BLOCK_N / 4) + n] += values[i][n];
        }
    }
};

/// Multiplies the k-tiles of a tile of D. `consumer` is the index of this warpgroup among the consumers.
struct Consumer {
    Shared& shared;
    Pipeline& pipeline;
    int consumer, k_tiles;

    /// Multiplies all k-tiles. `sums` becomes the sum of their products.
    __device__ __forceinline__ void consume(Sums& sums) const {
        if constexpr (PLANES == 2) {
            consume_split(sums);
        } else {
            consume_rounded(sums);
        }
    }

private:
    // Reports that this consumer is done with a stage, so that the stage can be filled again. Each thread reports by
    // itself, because each thread loads its part of the left operand from the stage. If the blocks of the cluster copy
    // into each other's stages, thread i reports to block i for all threads.
    __device__ __forceinline__ void leave(int stage) const {
        if constexpr (SHARERS > 1) {
            const int thread = threadIdx.x % WARPGROUP;
            if (thread < SHARERS) arrive_at(&shared.empty[stage], thread);
        } else {
            arrive(&shared.empty[stage]);
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

    // While the tensor cores multiply a k-tile, the threads load the left operand of the next k-tile into registers.
    // The tensor cores still read the registers of the present k-tile, so two sets of registers are used in turn.
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
                wait_for_products<1>();  // waits for the products of the previous k-tile, which read `next`
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

    // Tensor cores truncate sums. So the tensor cores only form short sums. Each starts from 0 and has the products of
    // 8 k-steps, of three kinds in this order: small * big, big * small, big * big. FP32 units add the short sums to
    // `sums`, rounding to nearest. The columns are divided into two halves: while the FP32 units add one half, the
    // tensor cores multiply the other half.
    //
    //     tensor cores   first half, step 0   second half, step 0   first half, step 1    second half, step 1
    //     FP32 units                          first half, step 0    second half, step 0   first half, step 1
    //
    // All products of a k-tile end before those of the next k-tile start. The reason: ptxas 13.0 overlaps products and
    // additions only in code without a loop. If products continued into the next round of the loop over k-tiles, ptxas
    // would insert a wait after each product (its message C7514).
    __device__ __forceinline__ void consume_split(Sums& sums) const {
        Fragments rows;
        StepFragments big[2], small[2];  // used in turn: products may still read those of the previous step
        HalfOfColumns halves[2];
        sums = {};
        load_next(rows);
        for (int tile = 0; tile < k_tiles; ++tile) {
            const int stage = pipeline.stage;
            const auto big_tile = describe_tile(shared_address(shared.b[stage]), 0);
            const auto small_tile = describe_tile(shared_address(shared.b[stage] + BLOCK_N * BLOCK_K), 0);
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                StepFragments &big_rows = big[step % 2], &small_rows = small[step % 2];
                rows.split(step, big_rows, small_rows);
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    if (step > 0) {
                        wait_for_products<1>();  // waits for this half's products of the previous step
                        halves[half].add_to(sums, half);
                    }
                    const auto place = step * STEP_OF_TILE + half * HALF_OF_TILE;
                    fence_sums();
                    halves[half].multiply(small_rows, big_tile + place, 0);
                    halves[half].multiply(big_rows, small_tile + place, 1);
                    halves[half].multiply(big_rows, big_tile + place, 1);
                    commit_products();
                }
            }
            pipeline.advance();
            if (tile + 1 < k_tiles) load_next(rows);
            wait_for_products<1>();
            halves[0].add_to(sums, 0);
            wait_for_products<0>();
            leave(stage);
            halves[1].add_to(sums, 1);
        }
    }
};
