// The consumers: the warpgroups that multiply the k-tiles.
#pragma once

#include "gemm/wgmma_tiled/pipeline.h"

static_assert(!PING_PONG || (CONSUMERS == 2 && CLUSTER_K * SPLIT_K == 1), "two consumers take turns with whole tiles");

/// A thread's part of the sums of its consumer, which computes ROWS x BLOCK_N elements of C. values[i] belongs to rows
/// i * 64 .. i * 64 + 63, in the order of multiply_tiles.
struct Sums {
    float values[ROWS / 64][BLOCK_N / 2];
};

/// Multiplies the k-tiles of one tile of C. This consumer computes ROWS rows, from row `part` * ROWS of the tile on.
/// With PING_PONG, the consumers take turns: the other consumer may start to multiply when this one has started its
/// last products. Before its products, this consumer waits until the phase with parity `turn` of its barrier in
/// shared.turns has ended.
__device__ __forceinline__ void consume(Shared& shared, Pipeline& pipeline, const Work& work, int part, int turn,
                                        Sums& sums) {
    constexpr int NEXT = LINE * BLOCK_K * sizeof(Element);  // bytes from 64 elements along M or N to the next 64
    // Distance of 16 k-steps, in units of 16 bytes: DEEPER if lines are along K, LINES_DEEPER if along M or N.
    constexpr int DEEPER = 16 * sizeof(Element) / 16;
    constexpr int LINES_DEEPER = 16 * LINE * sizeof(Element) / 16;
    // Other blocks of the cluster copy into this block's stages, so they must wait for its consumers. Thread i tells
    // block i of the SHARERS blocks (this block is one of them) that this consumer is done with a stage.
    const int thread = threadIdx.x % WARPGROUP;
    const auto leave = [&](int stage) {
        if constexpr (SHARERS > 1) {
            if (thread < SHARERS) arrive_at(&shared.empty[stage], work.part_of_cluster() * SHARERS + thread);
        } else {
            if (thread == 0) arrive(&shared.empty[stage]);
        }
    };
    // This consumer may wait for its k-tiles only after the other consumer has seen all k-tiles of the previous tile
    // arrive. The reason: wait_for_phase identifies a phase of the barrier only by its parity, which alternates between
    // successive k-tiles of a stage. Suppose that the previous k-tile of the stage were still on its way. The last
    // phase that has ended is then that of the k-tile before the previous one. It has the parity that this consumer
    // waits for, so the wait would return at once. The consumer would take an earlier k-tile for its own.
    if constexpr (PING_PONG) wait_for_phase(&shared.turns[threadIdx.x / WARPGROUP], turn);
    int previous = 0;
#pragma unroll 1  // unrolled code would be longer, and fetching its instructions for the first time takes long
    for (int tile = 0; tile < work.k_tiles; ++tile) {
        wait_for_phase(&shared.full[pipeline.stage], pipeline.parity);
        const auto a = describe_tile(shared_address(shared.a[pipeline.stage]) + part * (ROWS * BLOCK_K * 2), NEXT);
        const auto b = describe_tile(shared_address(shared.b[pipeline.stage]), NEXT);
        fence_sums();
#pragma unroll
        for (int step = 0; step < BLOCK_K / 16; ++step) {
#pragma unroll
            for (int i = 0; i < ROWS / 64; ++i) {
                multiply_tiles<Element, BLOCK_N, A_ALONG_M, B_ALONG_N>(
                    sums.values[i], a + i * (64 * BLOCK_K * 2 / 16) + step * (A_ALONG_M ? LINES_DEEPER : DEEPER),
                    b + step * (B_ALONG_N ? LINES_DEEPER : DEEPER), tile > 0 || step > 0);
            }
        }
        commit_products();
        if (tile > 0) {
            wait_for_products<1>();
            leave(previous);
        }
        previous = pipeline.stage;
        pipeline.advance();
    }
    if constexpr (PING_PONG) {
        if (thread == 0) arrive(&shared.turns[1 - threadIdx.x / WARPGROUP]);
    }
    wait_for_products<0>();
#pragma unroll
    for (int i = 0; i < ROWS / 64; ++i) keep_order(sums.values[i]);
    leave(previous);
}
