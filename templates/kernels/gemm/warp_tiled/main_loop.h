// The main loop: adds up the products over a block's share of K. There are two versions: multiply_pipelined, and
// multiply_guarded for blocks that do not meet the requirements of multiply_pipelined.
#pragma once

#include "device/async_copy.h"
#include "gemm/warp_tiled/fragment.h"
#include "gemm/warp_tiled/tile_loader.h"

/// accumulators += op(A) * op(B) over `k_tiles` k-tiles. Requires k_tiles >= 2; a comment in the loop says why. Also
/// requires that `fits` is true for both loaders, which means that no copy needs a guard at an edge of the matrix.
///
/// Shared memory holds STAGES stages. k-tile t is in stage t % STAGES. While the block multiplies k-tile t, it starts
/// the copies of k-tile t + STAGES - 1, which overwrite k-tile t - 1. Step COPY_STEP of k-tile t starts the copies. The
/// last step of k-tile t + STAGES - 2 waits for them. In between, the block multiplies this many k-tiles (the
/// quotient is not rounded; 2.375 for STAGES = 4, SLICE_STEPS = 8, COPY_STEP = 4):
///
///     STAGES - 2 + (SLICE_STEPS - 1 - COPY_STEP) / SLICE_STEPS
///
/// The pipeline for STAGES = 3, with time to the right:
///
///     multiplied:              | k-tile 0        | k-tile 1        | k-tile 2        | k-tile 3
///     stage 0   [copies of 0]  | read            |  [copies of 3 ..|.............]   | read
///     stage 1   [copies of 1 ..|.............]   | read            |  [copies of 4 ..|.............]
///     stage 2                  |  [copies of 2 ..|.............]   | read            |  [copies of 5 ..
///                              ^ barrier         ^ barrier         ^ barrier         ^ barrier
///
/// The steps of one k-tile, for SLICE_STEPS = 4. Each step multiplies the fragments in one buffer and loads the
/// fragments of the next step into the other buffer. After the barrier, the last step loads the fragments of the next
/// k-tile's step 0. Meanwhile, it multiplies fragments that were loaded before the barrier:
///
///     step 0    load step 1 -> buffer 1                                          multiply buffer 0
///     step 1    load step 2 -> buffer 0                                          multiply buffer 1
///     step 2    load step 3 -> buffer 1;  start all copies (COPY_STEP)           multiply buffer 0
///     step 3    store what went through registers; wait for the copies of the    multiply buffer 1
///               next k-tile; barrier; load its step 0 -> buffer 0
///
/// After the barrier the next k-tile is complete in shared memory, and no thread reads the present k-tile any more.
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
    __syncthreads();  // after this barrier, k-tile 0 is complete in shared memory
    load_fragments(a, b, 0, 0, opaque_true);
    fix_register_order(a, b, opaque_true);
    constexpr int COPY_STEP = SLICE_STEPS == 2 ? 0 : SLICE_STEPS / 2;
    int reading = 0;  // `reading` and `filling` are offsets of stages in shared memory, in elements
    int filling = (STAGES - 1) * STAGE_ELEMENTS;
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        // Copies start even if no k-tile is left to copy, because a branch around them would cost more. An asynchronous
        // copy then reads nothing. A copy through registers reads the last k-tile again, because `advance` returns 0.
        // The result of such a copy is never multiplied.
        //
        // There must be at least two k-tiles. k-tile 0 may have fewer than BLOCK_K k-steps. After its copies, the
        // loaders' pointers are BLOCK_K k-steps before k-tile 1, possibly before the start of the matrix. If there were
        // no k-tile 1, the pointers would stay there, and a copy through registers would read there.
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
                __syncthreads();  // the next k-tile is complete, and no thread reads the present k-tile any more
            }
            load_fragments(a, b, (step + 1) % SLICE_STEPS, (step + 1) % 2, opaque_true);
            // All copies start in the same step, because every step that starts copies loses some issue slots.
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
    wait_for_copies<0>();  // copies beyond the last k-tile write zeros to stages that the caller is about to reuse
}

/// accumulators += op(A) * op(B) for any matrices and any number of k-tiles. Copies one k-tile at a time to stage 0 and
/// guards every element. A single stage needs two barriers per k-tile: one before the copies and one after them.
/// `a_tile` and `b_tile` point to the tile's first element at the block's first k-step. From there to the edges, op(A)
/// has `room_m` rows and op(B) has `room_n` columns.
__device__ __forceinline__ void multiply_guarded(Element (&accumulators)[ACCUMULATORS], FragmentA& a, FragmentB& b,
                                                 Element* shared, const Element* a_tile, long long lda, int room_m,
                                                 const Element* b_tile, long long ldb, int room_n, int k_tiles,
                                                 int first_steps, int opaque_true) {
    int steps = first_steps;
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        __syncthreads();  // no thread reads the previous k-tile any more
        LoaderA::copy_guarded(shared, a_tile, lda, steps, room_m);
        LoaderB::copy_guarded(shared + OFFSET_B, b_tile, ldb, steps, room_n);
        __syncthreads();  // the k-tile is complete in shared memory
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
