// The sums over a block's share of K: the pipelined loop, and a plain one for what does not fit it.
#pragma once

#include "device/async_copy.h"
#include "gemm/warp_tiled/fragment.h"
#include "gemm/warp_tiled/tile_loader.h"

/// Multiplies `k_tiles` k-tiles, at least 2, whose copies need no guards (`fits` of the loaders). A comment in the loop
/// says why one k-tile is too few.
///
/// Shared memory holds STAGES stages. k-tile t is in stage t % STAGES. While the block multiplies k-tile t, it starts
/// the copies of k-tile t + STAGES - 1. They overwrite the stage of k-tile t - 1. They start in step COPY_STEP, and the
/// last step of k-tile t + STAGES - 2 waits for them. So they have STAGES - 2 + (SLICE_STEPS - 1 - COPY_STEP) /
/// SLICE_STEPS k-tiles of time to arrive: 2.375 for STAGES = 4, SLICE_STEPS = 8. STAGES = 3:
///
///     multiplied:              | k-tile 0        | k-tile 1        | k-tile 2        | k-tile 3
///     stage 0   [copies of 0]  | read            |  [copies of 3 ..|.............]   | read
///     stage 1   [copies of 1 ..|.............]   | read            |  [copies of 4 ..|.............]
///     stage 2                  |  [copies of 2 ..|.............]   | read            |  [copies of 5 ..
///                              ^ barrier         ^ barrier         ^ barrier         ^ barrier
///
/// One k-tile, SLICE_STEPS = 4. The fragments of the next k-step are loaded ahead of its multiplications, into the
/// other buffer; those of the next k-tile's first k-step, too, so that no multiplication waits behind the barrier:
///
///     step 0    load step 1 -> buffer 1                                          multiply buffer 0
///     step 1    load step 2 -> buffer 0                                          multiply buffer 1
///     step 2    load step 3 -> buffer 1;  start all copies (COPY_STEP)           multiply buffer 0
///     step 3    store what went through registers; wait for the copies of the    multiply buffer 1
///               next k-tile; barrier; load its step 0 -> buffer 0
///
/// The barrier says two things: the next k-tile is complete, and no thread reads this one any more.
__device__ __forceinline__ void multiply_pipelined(Element (&accumulators)[ACCUMULATORS], FragmentA& a, FragmentB& b,
                                                   LoaderA& a_loader, LoaderB& b_loader, int k_tiles, int first_steps,
                                                   int opaque_true) {
    const SharedAddress a_first = a.from;
    const SharedAddress b_first = b.from;
#pragma unroll
    for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {
        const bool more = k_tile < k_tiles;
        const long long advance_a = a_loader.advance(more);
        const long long advance_b = b_loader.advance(more);
        Element* const to_a = a_loader.to + k_tile * STAGE_ELEMENTS;
        Element* const to_b = b_loader.to + k_tile * STAGE_ELEMENTS;
#pragma unroll
        for (int i = 0; i < LoaderA::COPIES; ++i) {
            if (k_tile == 0) a_loader.first_copy(to_a, i, first_steps);
            if (k_tile > 0) a_loader.copy(to_a, i, advance_a, more);
        }
#pragma unroll
        for (int i = 0; i < LoaderB::COPIES; ++i) {
            if (k_tile == 0) b_loader.first_copy(to_b, i, first_steps);
            if (k_tile > 0) b_loader.copy(to_b, i, advance_b, more);
        }
        a_loader.store(to_a);
        b_loader.store(to_b);
        commit_copies();
    }
    wait_for_copies<STAGES - 2>();
    __syncthreads();  // k-tile 0 is complete
    load_fragments(a, b, 0, 0, opaque_true);
    fix_register_order(a, b, opaque_true);
    constexpr int COPY_STEP = SLICE_STEPS == 2 ? 0 : SLICE_STEPS / 2;
    int reading = 0;  // offsets of stages
    int filling = (STAGES - 1) * STAGE_ELEMENTS;
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        // Copies start even if no k-tile follows, because a branch around them would cost more. Asynchronous copies
        // then read nothing. Copies through registers read the last k-tile again (advance 0), so they need two k-tiles
        // or more: before k-tile 1 the pointers may be outside of the matrix. No one multiplies what they store.
        const bool more = k_tile + STAGES - 1 < k_tiles;
        const long long advance_a = a_loader.advance(more);
        const long long advance_b = b_loader.advance(more);
        Element* const to_a = a_loader.to + filling;
        Element* const to_b = b_loader.to + filling;
#pragma unroll
        for (int step = 0; step < SLICE_STEPS; ++step) {
            if (step == SLICE_STEPS - 1) {
                a_loader.store(to_a);
                b_loader.store(to_b);
                filling = reading;
                reading = reading == (STAGES - 1) * STAGE_ELEMENTS ? 0 : reading + STAGE_ELEMENTS;
                a.from = a_first + reading;
                b.from = b_first + reading;
                wait_for_copies<STAGES - 2>();
                __syncthreads();  // the next k-tile is complete, and no thread reads this one any more
            }
            load_fragments(a, b, (step + 1) % SLICE_STEPS, (step + 1) % 2, opaque_true);
            // All copies start in one step: issue slots stay empty once for each step that starts copies.
            if (step == COPY_STEP) {
#pragma unroll
                for (int i = 0; i < LoaderA::COPIES; ++i) a_loader.copy(to_a, i, advance_a, more);
#pragma unroll
                for (int i = 0; i < LoaderB::COPIES; ++i) b_loader.copy(to_b, i, advance_b, more);
                commit_copies();
            }
            multiply(accumulators, a, b, step % 2);
        }
    }
    wait_for_copies<0>();  // those beyond the last k-tile write zeros, and the stages serve other purposes next
}

/// For any matrices and any number of k-tiles: one k-tile at a time through stage 0, every copy guarded. With one stage
/// it needs two barriers per k-tile: before the copies and after them. `a_tile` and `b_tile` are at the first k-step;
/// `room_m` rows and `room_n` columns exist from there.
__device__ __forceinline__ void multiply_guarded(Element (&accumulators)[ACCUMULATORS], FragmentA& a, FragmentB& b,
                                                 Element* shared, const Element* a_tile, long long lda, int room_m,
                                                 const Element* b_tile, long long ldb, int room_n, int k_tiles,
                                                 int first_steps, int opaque_true) {
    int steps = first_steps;
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        __syncthreads();  // no thread reads the k-tile before any more
        LoaderA::copy_guarded(shared, a_tile, lda, steps, room_m);
        LoaderB::copy_guarded(shared + OFFSET_B, b_tile, ldb, steps, room_n);
        __syncthreads();  // the k-tile is complete
        a_tile += steps * (TRANSPOSE_A ? lda : 1);
        b_tile += steps * (TRANSPOSE_B ? 1 : ldb);
        steps = BLOCK_K;
#pragma unroll 1
        for (int step = 0; step < SLICE_STEPS; ++step) {
            load_fragments(a, b, step, 0, opaque_true);
            multiply(accumulators, a, b, 0);
        }
    }
}
