// wgmma_tiled: C = alpha * op(A) * op(B) + beta * C on Hopper's tensor cores, fed by its copy engine, for elements of
// f16 or bf16 with sums in FP32. Any layout, shape, stride and pointer. Row-major.
#include "device/cluster.h"
#include "device/shared.h"
#include "gemm/wgmma_tiled/consumer.h"
#include "gemm/wgmma_tiled/output.h"
#include "gemm/wgmma_tiled/producer.h"

extern "C" __global__ void __launch_bounds__(THREADS, 1) CLUSTER_OF(CLUSTER_M* CLUSTER_N)
    wgmma_tiled(int M, int N, int K, float alpha, const Element* __restrict__ A, long long lda,
                const Element* __restrict__ B, long long ldb, float beta, Element* __restrict__ C, long long ldc,
                int GROUP_M, const __grid_constant__ TensorMap A_TILES, const __grid_constant__ TensorMap B_TILES,
                const __grid_constant__ TensorMap C_TILES) {
    Shared& shared = shared_of_block();
    const bool copies_a = rows_are_aligned(A, lda), copies_b = rows_are_aligned(B, ldb);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(&shared.full[stage], copies_a && copies_b ? 1 : WARPGROUP);
            init_barrier(&shared.empty[stage], CONSUMERS * CLUSTER);
        }
        fence_barriers();
        if (copies_a) prefetch_map(A_TILES);
        if (copies_b) prefetch_map(B_TILES);
    }
    cluster_barrier();

    const Work work(M, N, GROUP_M);
    const int k_tiles = static_cast<int>((K + BLOCK_K - 1LL) / BLOCK_K);  // 0 if K is: then C = beta * C
    Pipeline pipeline;
    // Equal in a warp, which the compiler cannot know: addresses of tiles stay in uniform registers.
    const int warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / WARPGROUP, 0);
    if (warpgroup == CONSUMERS) {
        release_registers<PRODUCER_REGISTERS>();
        const Operand<A_ALONG_M, BLOCK_M> a{A_TILES, A, lda, M, K, copies_a};
        const Operand<B_ALONG_N, BLOCK_N> b{B_TILES, B, ldb, N, K, copies_b};
        if (copies_a && copies_b && threadIdx.x % WARPGROUP != 0) {
            // One thread starts all copies.
        } else {
            for (int tile = work.first; tile < work.tiles; tile += work.step) {
                const auto [row, column] = work.place(tile);
                produce(shared, pipeline, a, b, row, column, k_tiles);
            }
        }
    } else {
        take_registers<CONSUMER_REGISTERS>();
        const Output output{C_TILES, alpha, beta, C, ldc, M, N};
        for (int tile = work.first; tile < work.tiles; tile += work.step) {
            const auto [row, column] = work.place(tile);
            Sums sums;
            consume(shared, pipeline, warpgroup, k_tiles, sums);
            output.write(shared, sums, row + warpgroup * ROWS, column);
        }
        wait_for_stores<0>();
    }
    cluster_barrier_of_all();
}
