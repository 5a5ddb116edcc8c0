// The common body of the kernels wgmma_tf32_tiled and wgmma_split_tiled.
#pragma once

#include "device/cluster.h"
#include "device/dependent_launch.h"
#include "gemm/wgmma_tf32_tiled/output.h"
#include "gemm/wgmma_tf32_tiled/prepare.h"
#include "gemm/wgmma_tiled/producer.h"
#include "gemm/wgmma_tiled/split.h"

__device__ __forceinline__ void wgmma_tf32_product(int M, int N, float alpha, const Matrix& left, const Matrix& right,
                                                   float beta, Element* C, long long ldc, int group,
                                                   const TensorMap& left_map, const TensorMap& right_map,
                                                   unsigned char* workspace) {
    wait_for_previous_kernel();
    Shared& shared = shared_of_block();
    const int K = left.K;
    const Work work(left.sides, right.sides, K, group);
    const Workspace parts(workspace, work);
    // With K = 0, the operands may be null, so they are not read. The only k-tile is then all zeros (see Work).
    bool copies_left = K > 0 && engine_can_address(left.elements, left.leading);
    bool copies_right = PREPARES_RIGHT || (K > 0 && engine_can_address(right.elements, right.leading));
    float* rest = reinterpret_cast<float*>(parts.rest);
    const Repacked left_copy{left.elements, left.leading, LEFT_ALONG_ROWS ? K : left.sides,
                             LEFT_ALONG_ROWS ? left.sides : K, reinterpret_cast<Chunk*>(rest)};
    // Under this condition, `workspace_bytes` of the manifest includes room for a copy of the left operand.
    const bool left_has_copy = left_copy.columns % CHUNK != 0;
    if (left_has_copy) rest += left_copy.bytes() / sizeof(float);
    const int left_units = left_has_copy && !copies_left ? left_copy.units() : 0;
    copies_left = copies_left || left_has_copy;
    if constexpr (PREPARES_RIGHT) {
        const Prepared right_copy{right, rest};
        rest += right_copy.bytes() / sizeof(float);
        prepare(shared, left_copy, left_units, right_copy, parts.repack);
    } else {
        const Repacked right_copy{right.elements, right.leading, right.sides, K, reinterpret_cast<Chunk*>(rest)};
        const bool right_has_copy = K % CHUNK != 0;
        if (right_has_copy) rest += right_copy.bytes() / sizeof(float);
        repack(shared, left_copy, left_units, right_copy, right_has_copy && !copies_right ? right_copy.units() : 0,
               parts.repack);
        copies_right = copies_right || right_has_copy;
    }
    // The shuffle tells the compiler that the value is equal in all lanes of a warp. So the compiler keeps addresses of
    // tiles in uniform registers.
    const int warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / WARPGROUP, 0);
    if (threadIdx.x == CONSUMERS * WARPGROUP) {  // the thread that starts the copies
        if (copies_left) prefetch_map(left_map);
        if (copies_right) prefetch_map(right_map);
        init_stages(shared, copies_left && copies_right ? 1 : WARPGROUP, READERS);
    }
    if constexpr (SHARERS > 1) {
        cluster_barrier();
    } else {
        __syncthreads();
    }
    if (warpgroup == CONSUMERS) {
        release_registers<PRODUCER_REGISTERS>();
        const Operand<LEFT_ALONG_ROWS, BLOCK_M> a{left_map, left.elements, left.leading, left.sides, K, copies_left};
        const Operand<false, BLOCK_N, PLANES> b{right_map, right.elements, right.leading, right.sides, K, copies_right};
        produce_all(shared, a, b, work);
        if constexpr (CLUSTER_K > 1) cluster_barrier_of_all();  // the consumers reach this barrier in add_up_parts
    } else {
        take_registers<CONSUMER_REGISTERS>();
        Pipeline pipeline;
        const Output output{alpha, beta, C, ldc, M, N, left, right};
        const Consumer consumer{shared, pipeline, warpgroup, work.k_tiles};
        int done = 0;  // number of k-tiles of the present tile whose sums are in C
        // With RESTARTS, each round of this loop computes one set of sums of a tile. With a nested loop over the sets
        // of a tile, the compiler would keep the addresses of all elements of C in registers, and spill registers.
        for (int tile = work.first; tile < work.tiles; tile += RESTARTS && done > 0 ? 0 : work.step) {
            const auto [row, column] = work.place(tile);
            Sums sums;
            if constexpr (RESTARTS) {
                const int k_tiles = min(K_TILES_OF_SUM, work.k_tiles - done);
                Consumer{shared, pipeline, warpgroup, k_tiles}.consume(sums);
                Output{alpha, beta, C, ldc, M, N, left, right, done > 0}.write(sums, row, column);
                done = done + k_tiles < work.k_tiles ? done + k_tiles : 0;
            } else {
                consumer.consume(sums);
                if constexpr (CLUSTER_K > 1) {
                    add_up_parts(shared, work, sums, rest, parts.split, output, row, column);
                } else {
                    output.write(sums, row, column);
                }
            }
        }
    }
    cluster_barrier_of_all();
}
