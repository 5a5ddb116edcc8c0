// wgmma_tiled: C = alpha * op(A) * op(B) + beta * C on Hopper's tensor cores (compute capability 9.0 alone), for
// elements of f16 or bf16 with sums in FP32. Any layout, shape, stride and pointer. Row-major.
//
// Reading order: this page, device/mbarrier.h, device/tensor_copy.h and device/wgmma.h (the instructions), pipeline.h
// (stages), work.h (which tiles a block computes), producer.h, consumer.h, output.h; then repack.h, tasks.h and
// split.h.
//
//
// WHO DOES WHAT
//
// A block has CONSUMERS warpgroups of 4 warps that multiply, and one, the producer, that loads. Stages of shared memory
// lie between them; each holds a k-tile: BLOCK_M x 64 of op(A) and 64 x BLOCK_N of op(B).
//
//     producer    waits until a stage is empty, starts the copies of a k-tile into it       full[s] counts their bytes
//     consumer c  waits until it is full, multiplies rows c * ROWS .. of it by all columns  empty[s] counts consumers
//
// A consumer has one k-tile under way while it waits for the one before, so the tensor cores never stop:
//
//     producer        copy 0 | copy 1 | copy 2 | copy 3 |    | copy 4 ...                   STAGES = 4
//     consumers              | multiply 0 | multiply 1 | multiply 2 | multiply 3 | ...
//                                         ^ k-tile 0 is done: stage 0 is empty again
//
// The grid has at most one block for each multiprocessor. Blocks take tile after tile (Work), and the producer goes on
// with the next tile while the consumers write the last one.
//
//
// A K-TILE IN SHARED MEMORY
//
// The copy engine writes lines of 128 bytes, 64 elements, and swizzles them: the 16 bytes c of line l are at place
// c ^ (l % 8) of the line.
//
//     operand contiguous along K     (A of n., B of .t)  a line is a row of op(A) or column of op(B): one box of
//                                                        BLOCK_M or BLOCK_N lines
//     operand contiguous along M, N  (A of t., B of .n)  a line is a k: boxes of 64 lines, for 64 rows or columns each
//
// wgmma reads both as they are; its last two operands say which order it finds.
//
//
// CLUSTERS
//
// Blocks one below the other (CLUSTER_M) need the same part of B, blocks side by side (CLUSTER_N) the same part of A.
// Of such a part, each block copies its share into all of them. A stage is empty when the consumers of the whole
// cluster have left it.
//
//
// FEW TILES: SPLIT-K (split.h)
//
// Where there are fewer tiles than multiprocessors, CLUSTER_K blocks of a cluster, and SPLIT_K clusters, share a tile.
// Each multiplies a part of K. The cluster adds up through its shared memory, the clusters through the workspace.
//
//
// EDGES, AND ROWS THAT ARE NOT ALIGNED (repack.h)
//
// The copy engine writes zeros for what lies beyond a matrix, and stores nothing there. It needs an address and rows at
// multiples of 16 bytes. If packed rows of the shape are no such multiples, the workspace has room for both operands.
// All blocks first copy those that the engine cannot address, and go on from there. They read whole 16 bytes, so up to
// 14 bytes around an operand. The copy reads and writes an operand once; with many rows and columns of C the products
// cost much more.
//
// Other shapes have no such room. If a call gives them another stride or address, the producer's 128 threads copy that
// operand element by element, slowly. C is stored by the engine where its rows begin and end at multiples of 16 bytes,
// else by the consumers' threads, two elements at once.
//
//
// THE END
//
// A warp has 16 rows of sums. For every STRIP_COLUMNS columns it scales them, rounds them, writes them to a strip of
// shared memory (stmatrix) and starts a copy to C. Two strips take turns.
//
//
// ONE CONFIGURATION, WORKED THROUGH
//
//     BLOCK_M=128 BLOCK_N=256 STAGES=4 CONSUMERS=2, M = N = K = 4096
//
//     threads                  128 * (2 + 1)                384
//     sums of a thread         64 * 256 / 128               128
//     products of a k-tile     64 / 16 of 64 x 256 x 16     4 wgmma of each consumer, 1024 cycles of the tensor cores
//     stages                   4 * (128 + 256) * 64 * 2     196,608 bytes
//     strips                   8 warps * 2 * 16 * 64 * 2    32,768 bytes
//     tiles                    4096 / 128 * 4096 / 256      512: 3.9 for each of 132 multiprocessors
#include "device/cluster.h"
#include "device/shared.h"
#include "gemm/wgmma_tiled/consumer.h"
#include "gemm/wgmma_tiled/output.h"
#include "gemm/wgmma_tiled/producer.h"
#include "gemm/wgmma_tiled/repack.h"
#include "gemm/wgmma_tiled/split.h"

#if CLUSTER_M * CLUSTER_N * CLUSTER_K > 1
#define CLUSTER_DIMENSIONS CLUSTER_OF(CLUSTER_M* CLUSTER_N* CLUSTER_K)
#else
#define CLUSTER_DIMENSIONS
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) CLUSTER_DIMENSIONS
    wgmma_tiled(int M, int N, int K, float alpha, const Element* __restrict__ A, long long lda,
                const Element* __restrict__ B, long long ldb, float beta, Element* __restrict__ C, long long ldc,
                int GROUP_M, const __grid_constant__ TensorMap A_TILES, const __grid_constant__ TensorMap B_TILES,
                const __grid_constant__ TensorMap C_TILES, unsigned char* workspace) {
    Shared& shared = shared_of_block();
    const Work work(M, N, K, GROUP_M);
    const Workspace parts(workspace, work);
    // With K = 0, A and B may be null. The only k-tile lies before the matrices, so it is zeros.
    bool copies_a = K > 0 && engine_can_address(A, lda), copies_b = K > 0 && engine_can_address(B, ldb);
    const Repacked a{A, lda, A_ALONG_M ? K : M, A_ALONG_M ? M : K, reinterpret_cast<Chunk*>(parts.rest)};
    const Repacked b{B, ldb, B_ALONG_N ? K : N, B_ALONG_N ? N : K, a.copy + a.bytes() / sizeof(Chunk)};
    float* sums_of_parts = reinterpret_cast<float*>(parts.rest);
    if (a.columns % CHUNK != 0 || b.columns % CHUNK != 0) {  // as in the manifest: the workspace has room for copies
        repack(shared.note, a, copies_a ? 0 : a.units(), b, copies_b ? 0 : b.units(), parts.repack);
        copies_a = copies_b = true;
        sums_of_parts += (a.bytes() + b.bytes()) / sizeof(float);
    }
    if (threadIdx.x == CONSUMERS * WARPGROUP) {  // the thread that starts the copies
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(&shared.full[stage], copies_a && copies_b ? 1 : WARPGROUP);
            init_barrier(&shared.empty[stage], CONSUMERS * SHARERS);
        }
        fence_barriers();
        if (copies_a) prefetch_map(A_TILES);
        if (copies_b) prefetch_map(B_TILES);
    }
    if constexpr (SHARERS > 1) {
        cluster_barrier();
    } else if (copies_a && copies_b) {
        await_producer();
    } else {
        __syncthreads();
    }
    Pipeline pipeline;
    // Equal in a warp, which the compiler cannot know: addresses of tiles stay in uniform registers.
    const int warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / WARPGROUP, 0);
    if (warpgroup == CONSUMERS) {
        release_registers<PRODUCER_REGISTERS>();
        const Operand<A_ALONG_M, BLOCK_M> operand_a{A_TILES, A, lda, M, K, copies_a};
        const Operand<B_ALONG_N, BLOCK_N> operand_b{B_TILES, B, ldb, N, K, copies_b};
        if (copies_a && copies_b && threadIdx.x % WARPGROUP != 0) {
            // One thread starts all copies.
        } else {
            for (int tile = work.first; tile < work.tiles; tile += work.step) {
                const auto [row, column] = work.place(tile);
                produce(shared, pipeline, operand_a, operand_b, row, column, work);
            }
        }
        if constexpr (CLUSTER_K > 1) cluster_barrier_of_all();  // with those of add_up_parts
    } else {
        take_registers<CONSUMER_REGISTERS>();
        const Output output{C_TILES, alpha, beta, C, ldc, M, N};
        for (int tile = work.first; tile < work.tiles; tile += work.step) {
            const auto [row, column] = work.place(tile);
            Sums sums;
            consume(shared, pipeline, warpgroup, work.k_tiles, sums);
            if constexpr (CLUSTER_K > 1) {
                add_up_parts(shared, work, sums, sums_of_parts, parts.split, output, row, column);
            } else {
                output.write(shared, sums, row + warpgroup * ROWS, column);
            }
        }
        wait_for_stores<0>();
    }
    cluster_barrier_of_all();
}
