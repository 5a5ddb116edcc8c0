// The body of warp_tiled and batched_warp_tiled. README.md in this folder explains the kernel with pictures and
// numbers.
//
//     1. WorkTile     which tile of C this block computes, and which part of K        work_tile.h
//     2. ThreadCoord  which elements of the tile belong to this thread                thread_coord.h, fragment.h
//     3. main loop    accumulators += A * B over the k-tiles                          main_loop.h, tile_loader.h
//     4. reduction    adds the sums of the slices, blocks and clusters of one tile    reduction.h
//     5. Output       C = accumulators + beta * C (alpha is already applied)          output.h
#pragma once

#include "device/dependent_launch.h"
#include "device/shared.h"
#include "gemm/warp_tiled/main_loop.h"
#include "gemm/warp_tiled/output.h"
#include "gemm/warp_tiled/reduction.h"
#include "gemm/warp_tiled/thread_coord.h"
#include "gemm/warp_tiled/work_tile.h"

/// Computes this block's part of C[M,N] = alpha * op(A)[M,K] * op(B)[K,N] + beta * C. All threads of the block must
/// call it once. `matrix` is the index of the product in its batch. `workspace` is aligned to 16 bytes and has,
/// for each tile of each product, `splits` (work_tile.h) * BLOCK_M * BLOCK_N + TILE_COUNTERS elements. It is not used
/// if SPLIT_K = 1.
__device__ __forceinline__ void warp_tiled_product(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                                   const Element* B, long long ldb, Element beta, Element* C,
                                                   long long ldc, int GROUP_M, Element* workspace,
                                                   long long matrix = 0) {
    Element* const shared = dynamic_shared<Element>();
    const WorkTile work(M, N, K, GROUP_M);
    const ThreadCoord thread;
    wait_for_previous_kernel(min(work.row, work.column), blocks_run_alone());
    const long long k = work.first_k;
    const Element* const a_tile = A + (TRANSPOSE_A ? k * lda + work.load_row : work.load_row * lda + k);
    const Element* const b_tile = B + (TRANSPOSE_B ? work.load_column * ldb + k : k * ldb + work.load_column);
    const int room_m = M - work.load_row;
    const int room_n = N - work.load_column;
    FragmentA a{SharedAddress(pin_register(shared + thread.slice * SLICE_STEPS * STRIDE_A + thread.row(0)))};
    FragmentB b{
        SharedAddress(pin_register(shared + OFFSET_B + thread.slice * SLICE_STEPS * STRIDE_B + thread.column(0)))};
    Element accumulators[ACCUMULATORS] = {};
    const bool regular = LoaderA::fits(A, lda, K, M, work.load_row) && LoaderB::fits(B, ldb, K, N, work.load_column);
    const int opaque_true = M;  // always positive, but the compiler cannot know this
    if (regular && work.k_tiles > 1) {
        LoaderA a_loader(shared, a_tile, lda, room_m);
        LoaderB b_loader(shared + OFFSET_B, b_tile, ldb, room_n);
        multiply_pipelined(accumulators, a, b, a_loader, b_loader, work.k_tiles, work.first_steps, opaque_true);
    } else {
        multiply_guarded(accumulators, a, b, shared, a_tile, lda, room_m, b_tile, ldb, room_n, work.k_tiles,
                         work.first_steps, opaque_true);
    }
    if (SLICES_K > 1) reduce_slices(accumulators, shared, thread);
#pragma unroll  // alpha multiplies the sums before they are stored: "scale first" in device/compiler_hints.h says why
    for (int i = 0; i < ACCUMULATORS; ++i) accumulators[i] *= alpha;

    const Output output(C, ldc, M, N, beta, work);
    if (CLUSTER_K * SPLIT_K != 1) {  // a compile-time constant, so the compiler drops one of the ways to write C
        // The sums of all parts, then the counters (reduction.h).
        const int elements = SPLIT_K == 0 ? work.splits * BLOCK_M * BLOCK_N + TILE_COUNTERS : TILE_WORKSPACE;
        Element* const tile_workspace =
            SPLIT_K != 1 ? workspace + (matrix * work.tiles + work.tile) * elements : nullptr;
        reduce_split_k(accumulators, shared, tile_workspace, work, thread, output);
        return;
    }
    if (output.is_simple(work)) {
        if (thread.slice == 0) output.write_simple(work, thread, accumulators);
    } else {
        output.write_any(work, thread, accumulators, shared);
    }
}
