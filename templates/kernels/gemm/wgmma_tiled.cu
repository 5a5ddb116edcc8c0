// wgmma_tiled: C = alpha * op(A) * op(B) + beta * C on Hopper's tensor cores (compute capability 9.0 only). Elements
// are f16 or bf16, sums are FP32. The matrices are row-major. Any layout, shape, stride and alignment is allowed.
//
// Reading order: this page, device/mbarrier.h, device/tensor_copy.h and device/wgmma.h (the instructions), pipeline.h
// (stages), work.h (which tiles a block computes), producer.h, consumer.h, output.h; then device/dependent_launch.h,
// repack.h, tasks.h and split.h.
//
//
// WHO DOES WHAT
//
// A block has CONSUMERS warpgroups of 4 warps that multiply (the consumers), and one warpgroup that loads (the
// producer). The producer passes k-tiles to the consumers through stages of shared memory. A stage holds one k-tile:
// BLOCK_M x 64 elements of op(A) and 64 x BLOCK_N of op(B). Barriers full[s] and empty[s] belong to stage s:
//
//     producer    waits until stage s is empty, then copies a k-tile into it              full[s] counts copied bytes
//     consumer c  waits until stage s is full, then multiplies ROWS rows of A, from       empty[s] counts the consumers
//                 row c * ROWS of the tile on, by all columns of B                        that are done with the stage
//
// With PING_PONG, ROWS is BLOCK_M, and only one consumer multiplies each k-tile (see below).
//
// A consumer starts the products of a k-tile before it waits for those of the previous k-tile. So the tensor cores
// always have work:
//
//     producer        copy 0 | copy 1 | copy 2 | copy 3 |        | copy 4 |            | copy 5 | ...     STAGES = 4
//     consumers              |            multiply 0             |     multiply 1      | multiply 2 ...
//                                                                ^ k-tile 0 is done: stage 0 is empty again
//
// The grid has at most one block for each multiprocessor. Each block computes several tiles of C, one after another
// (Work). While the consumers write a tile to C, the producer already loads k-tiles of the next tile.
//
//
// PING-PONG
//
// A consumer that writes a tile to C does not multiply. With PING_PONG = 0, all consumers write at the same time, so
// the tensor cores wait. With PING_PONG = 1, each of two consumers computes tiles of its own: consumer 0 has the
// block's tiles 0, 2, 4 and so on, consumer 1 has the others. One consumer multiplies while the other writes:
//
//     producer        load tile 0 | load tile 1      | load tile 2      | load tile 3 ...
//     consumer 0           | multiply tile 0 | write tile 0 |   | multiply tile 2 | write tile 2 ...
//     consumer 1                             | multiply tile 1 | write tile 1 |   | multiply tile 3 ...
//
// PING_PONG saves the most time if K is small, because writing a tile then takes long in comparison with its products.
// But a tile must be smaller than with PING_PONG = 0, because the registers of one consumer hold all sums of the tile.
// So each loaded element is used in fewer products.
//
//
// A K-TILE IN SHARED MEMORY
//
// The copy engine (TMA) writes lines of 128 bytes (64 elements) and swizzles them: chunk c (16 bytes) of line l is at
// place c ^ (l % 8) of the line. What a line is depends on the layout:
//
//     operand contiguous along K              a line is 64 k-steps of a row of op(A) or of a column of op(B). Without
//     (A in nn and nt, B in nt and tt)        clusters, one copy has BLOCK_M or BLOCK_N lines
//     operand contiguous along M or N         a line is 64 rows or columns of one k-step. One copy has 64 lines: the
//     (A in tn and tt, B in nn and tn)        64 k-steps of 64 rows or columns
//
// wgmma can read both arrangements. Its last two operands say which one each matrix has.
//
//
// CLUSTERS
//
// CLUSTER_M blocks, one below the other, need the same part of B. CLUSTER_N blocks, side by side, need the same part of
// A. Each of these blocks copies an equal share of the common part into the shared memory of all of them. A stage is
// therefore empty only when the consumers of all CLUSTER_M * CLUSTER_N blocks are done with it.
//
//
// FEW TILES: SPLIT-K (split.h)
//
// If C has fewer tiles than the GPU has multiprocessors, several blocks share a tile: CLUSTER_K blocks in each of
// SPLIT_K clusters. Each block multiplies a part of K. The sums are added up within each cluster through shared memory,
// then between the clusters through the workspace. Shared memory is faster, but large clusters leave multiprocessors
// without work: if clusters have 4 blocks, only 120 of the 132 multiprocessors of an H100 run blocks.
//
// The blocks of a cluster can both share operands and split K. For example, CLUSTER_M = 2 and CLUSTER_K = 4 make
// clusters of 8 blocks for two tiles, one below the other. The blocks of ranks 0 and 1 multiply the first part of K and
// copy their part of B for each other, those of ranks 2 and 3 multiply the second part, and so on.
//
//
// EDGES, AND ROWS THAT ARE NOT ALIGNED (repack.h)
//
// For elements beyond the edges of a matrix, the copy engine loads zeros and stores nothing. The engine can address a
// matrix only if the matrix and its rows start at multiples of 16 bytes.
//
// If the length of the rows of A or B (without padding) is not a multiple of 16 bytes, the manifest asks for a
// workspace with room for both operands. If the engine cannot address an operand, all blocks together copy this operand
// to the workspace before the products. The blocks read aligned groups of 16 bytes, so they also read up to 14 bytes
// before and after an operand. Each copied operand is read and written once. If C is large, the products take much
// longer than these copies.
//
// If the rows of A and of B (without padding) are multiples of 16 bytes long, the workspace has no room for copies. An
// operand whose address or stride is not a multiple of 16 bytes is then copied slowly: the producer's 128 threads copy
// it element by element.
//
// The engine stores C if K is not split and the rows of C begin and end at multiples of 16 bytes. Otherwise the
// consumers' threads store C, two elements at once if C is aligned for that.
//
//
// EPILOGUE
//
// A warp has the sums of 16 of each 64 rows. It handles 16 rows and STRIP_COLUMNS columns at a time: it scales and
// rounds the sums, writes them to a strip in shared memory (stmatrix) and starts a copy of the strip to C. If a warp
// has several strips in a tile, it uses two buffers in turn.
//
//
// SMALL PRODUCTS: TIME BEFORE THE FIRST COPY
//
// The kernel may start while the previous kernel of the stream still runs. It then initialises its barriers, prefetches
// the tensor maps and determines its first tile. Only then does it wait for the previous kernel
// (device/dependent_launch.h). If the previous kernel leaves room on the multiprocessors, for example because two
// blocks fit on each (BLOCKS_PER_SM), this preparation overlaps with the previous kernel and adds no time.
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
#include "device/dependent_launch.h"
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) CLUSTER_DIMENSIONS
    wgmma_tiled(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B, long long ldb,
                float beta, Element* C, long long ldc, int GROUP_M, const __grid_constant__ TensorMap A_TILES,
                const __grid_constant__ TensorMap B_TILES, const __grid_constant__ TensorMap C_TILES,
                unsigned char* workspace) {
    Shared& shared = shared_of_block();
    const Work work(M, N, K, GROUP_M);
    const Workspace parts(workspace, work);
    const Repacked a{A, lda, A_ALONG_M ? K : M, A_ALONG_M ? M : K, reinterpret_cast<Chunk*>(parts.rest)};
    const Repacked b{B, ldb, B_ALONG_N ? K : N, B_ALONG_N ? N : K, a.copy + a.bytes() / sizeof(Chunk)};
    const bool has_room = a.columns % CHUNK != 0 || b.columns % CHUNK != 0;  // the workspace has room for copies
    // With K = 0, A and B may be null, so they are not read. The only k-tile is then all zeros (see Work).
    const bool fits_a = K > 0 && engine_can_address(A, lda), fits_b = K > 0 && engine_can_address(B, ldb);
    const bool copies_a = fits_a || has_room, copies_b = fits_b || has_room;
    // The shuffle tells the compiler that the value is equal in all lanes of a warp. So the compiler keeps addresses of
    // tiles in uniform registers.
    const int warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / WARPGROUP, 0);
    if (threadIdx.x == CONSUMERS * WARPGROUP) {  // the thread that starts the copies
        if (copies_a) prefetch_map(A_TILES);
        if (copies_b) prefetch_map(B_TILES);
        if constexpr (PING_PONG) init_barrier(&shared.turns[0], 1), init_barrier(&shared.turns[1], 1);
        init_stages(shared, copies_a && copies_b ? 1 : WARPGROUP, BLOCK_M / ROWS * SHARERS);
    }
    if constexpr (SHARERS > 1) {
        cluster_barrier();
    } else if (copies_a && copies_b && !has_room) {
        await_producer();
    } else {
        __syncthreads();
    }
    float* sums_of_parts = reinterpret_cast<float*>(parts.rest);
    if (has_room) {
        wait_for_previous_kernel();
        repack(shared, a, fits_a ? 0 : a.units(), b, fits_b ? 0 : b.units(), parts.repack);
        sums_of_parts += (a.bytes() + b.bytes()) / sizeof(float);
    }
    if (warpgroup == CONSUMERS) {
        release_registers<PRODUCER_REGISTERS>();
        const Operand<A_ALONG_M, BLOCK_M> operand_a{A_TILES, A, lda, M, K, copies_a};
        const Operand<B_ALONG_N, BLOCK_N> operand_b{B_TILES, B, ldb, N, K, copies_b};
        produce_all(shared, operand_a, operand_b, work);
        if constexpr (CLUSTER_K > 1) cluster_barrier_of_all();  // the consumers reach this barrier in add_up_parts
    } else {
        take_registers<CONSUMER_REGISTERS>();
        wait_for_previous_kernel();
        Pipeline pipeline;
        const Output output{C_TILES, alpha, beta, C, ldc, M, N};
        const int part = PING_PONG ? 0 : warpgroup;  // the part of a tile's rows that this consumer computes
        int turn = 1 - warpgroup;                    // the first consumer does not wait for its first turn
        if (PING_PONG) pipeline.skip(warpgroup * work.k_tiles);
        for (int tile = work.first + (PING_PONG ? warpgroup * work.step : 0); tile < work.tiles;
             tile += (PING_PONG ? CONSUMERS : 1) * work.step) {
            const auto [row, column] = work.place(tile);
            Sums sums;
            consume(shared, pipeline, work, part, turn, sums);
            if constexpr (CLUSTER_K * SPLIT_K > 1) {
                add_up_parts(shared, work, sums, sums_of_parts, parts.split, output, row, column);
            } else {
                output.write(shared, sums, row + part * ROWS, column);
                if (PING_PONG) pipeline.skip(work.k_tiles);
                turn ^= 1;
            }
        }
        wait_for_stores<0>();
    }
    cluster_barrier_of_all();
}
