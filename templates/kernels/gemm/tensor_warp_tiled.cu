// tensor_warp_tiled: C = alpha * op(A) * op(B) + beta * C on tensor cores, for elements of f16, bf16 or tf32 with sums
// in FP32 (compute capability 8.0 and up). Any layout, shape, stride and pointer. Row-major; op(A) is A or its
// transpose, M x K, and op(B) is K x N.
//
// Reading order: this page, device/tensor_core.h (which lane has which element), tile.h (shared memory), fragments.h,
// main_loop.h (the pipeline), work_tile.h, output.h (the end). No GPU has timed it yet.
//
//
// BLOCK, WARP, FRAGMENT
//
//     C, M x N                   tile of a block             tile of a warp              fragments of an mma.sync
//                                BLOCK_M x BLOCK_N           WARP_M x WARP_N             m16n8k16, for tf32 m16n8k8
//     +----+----+----+           +---------+---------+       +--+--+--+--+--+--+--+--+              B: STEP x 8
//     |    |    |    |           | warp 0  | warp 1  |       |16x8 |  |  |  |  |  |  |              +------+
//     +----+----+----+           |         |         |       +--+--+--+--+--+--+--+--+              |      |
//     |    | ## |    |    ->     +---------+---------+   ->  |  |  |  |  |  |  |  |  |   ->         +------+
//     +----+----+----+           | warp 2  | warp 3  |       +--+--+--+--+--+--+--+--+  A: 16 x STEP C: 16 x 8
//     |    |    |    |           |         |         |       |  |  |  |  |  |  |  |  |   +--------+  +------+
//     +----+----+----+           +---------+---------+       +--+--+--+--+--+--+--+--+   |        |  |      |
//                                WARPS_N = 2                 WARP_M / 16 by WARP_N / 8   +--------+  +------+
//
//     warp = threadIdx.x / 32       warp_row = warp / WARPS_N * WARP_M       warp_column = warp % WARPS_N * WARP_N
//
// A lane keeps 4 sums of each 16 x 8, so WARP_M * WARP_N / 32 in all. A k-step is STEP = 16 deep, for tf32 8: 32 bytes
// in any case. It needs WARP_M / 16 fragments of A and WARP_N / 8 of B, which are loaded once and serve
// WARP_M / 16 * WARP_N / 8 instructions. One ldmatrix.x4 loads 16 x STEP elements: a fragment of A, or two of B.
//
//
// A STAGE OF SHARED MEMORY
//
// A stage holds a k-tile: BLOCK_K columns of op(A), then BLOCK_K rows of op(B). Each operand is stored as in global
// memory, so copies are 16 bytes (a chunk, 8 elements, of tf32 4) in both places, and the transposing form of ldmatrix
// turns what needs it:
//
//     operand contiguous along K    (A of n., B of .t)    a line is a row of op(A) or column of op(B), BLOCK_K elements
//     operand contiguous along M, N (A of t., B of .n)    a line is a column of op(A) or row of op(B): BLOCK_M, BLOCK_N
//
// ldmatrix reads 8 lines, one chunk of each; shared memory serves them at once if they lie in 8 different columns of 16
// bytes. Lines of 128 bytes put a chunk of every line into the same column. So chunks change places (the XOR swizzle):
//
//     place(line, chunk) = line * CHUNKS + (chunk ^ line / (8 / SPAN) % SPAN)      CHUNKS of a line, SPAN = 8, 4 or 2
//
//     CHUNKS = 8 (64 elements of 16 bits)           CHUNKS = 4 (32 of them): two lines fill the 8 columns
//     line 0:  0 1 2 3 4 5 6 7                      lines 0, 1:  0 1 2 3  0 1 2 3
//     line 1:  1 0 3 2 5 4 7 6                      lines 2, 3:  1 0 3 2  1 0 3 2
//     line 2:  2 3 0 1 6 7 4 5                      lines 4, 5:  2 3 0 1  2 3 0 1
//     ...chunk 0 of 8 lines is in 8 columns         lines 6, 7:  3 2 1 0  3 2 1 0
//
// ldmatrix transposes elements of 16 bits alone. Lines of tf32 along M or N are read one element at a time: 8 of each
// of 4 lines, which are two chunks of each. There, pairs of chunks change places: chunk ^ line % 4 * 2.
//
//
// TF32
//
// An operand of tf32 is a float in memory, in the copies and in shared memory. Each element is rounded to the 11 bits
// of TF32 when a lane takes it into a register (cvt.rna.tf32.f32: to nearest, ties away from zero); mma.sync would cut
// the other bits off. Products are exact. Sums, alpha, beta and C are FP32: C is rounded neither when it is read nor
// when it is written.
//
//
// THE PIPELINE
//
// k-tile t is in stage t % STAGES. While it is multiplied, the copies of k-tile t + STAGES - 1 are under way, into the
// stage that k-tile t - 1 has left. One barrier for each k-tile is enough. STAGES = 3:
//
//                  before the loop      t = 0              t = 1              t = 2
//     stage 0      [copy k-tile 0]   |  multiply 0      |  [copy 3 ..........|..............]
//     stage 1      [copy k-tile 1 ...|................] |  multiply 1        |  [copy 4 ....
//     stage 2                        |  [copy 2 ........|................]   |  multiply 2
//                                    ^ wait until at most STAGES - 2 groups are incomplete, then a barrier
//
// Within a k-tile, the fragments of k-step s + 1 are loaded while k-step s is multiplied.
//
//
// EDGES
//
// Copies beyond the matrix write zeros: cp.async takes the number of bytes that it really reads. So a tile that reaches
// over an edge of M, N or K is like any other one. Rows that do not start at multiples of 16 bytes, because of the
// pointer or of the leading dimension, cannot be copied this way. Those of tf32 go through the same pipeline, 4 bytes
// at a time. cp.async has no 2 bytes: for 16 bits multiply_guarded copies element by element, in one stage, slowly. The
// block decides by A, lda, B and ldb. C is written a chunk at a time where its rows are aligned and all of the chunk
// exists, else element by element.
//
//
// GRID AND SPLIT-K
//
//     gridDim.x = tiles * SPLIT_K       part = blockIdx.x / tiles       tile = blockIdx.x % tiles
//
// Tiles are numbered down GROUP_M rows of tiles before the next column, so that blocks which run at the same time share
// rows of A and columns of B in the L2 cache. Part p has k-tiles  all * p / SPLIT_K .. all * (p + 1) / SPLIT_K - 1.
// Each part writes its sums to the workspace. The last block to arrive adds them up in the order of the parts, so the
// same configuration gives the same bits.
//
//
// ONE CONFIGURATION, WORKED THROUGH
//
//     BLOCK_M=128 BLOCK_N=128 BLOCK_K=32 WARP_M=64 WARP_N=64 STAGES=3 SPLIT_K=1, M = N = K = 4096, layout nn, f16
//
//     warps, threads           128 / 64 * 128 / 64                               4, 128
//     sums of a lane           64 * 64 / 32                                      128
//     fragments of a k-step    A: 4 of 4 registers; B: 8 of 2                    32 registers, twice for two k-steps
//     a k-tile of a warp       2 k-steps of 4 + 4 ldmatrix.x4, 4 * 8 mma.sync    16 loads, 64 products of 16 x 8 x 16
//     lines                    A: 128 of 4 chunks; B: 32 of 16 chunks            A: SPAN 4; B: SPAN 8
//     copies of a thread       128 * 32 / 8 / 128 of A, as many of B             4 and 4, of 16 bytes
//     stages                   3 * (128 + 128) * 32 * 2                          49,152 bytes
//     output strips            4 warps * 16 rows * (64 + 8) * 4                  18,432 bytes, in the same memory
//     grid                     4096 / 128 * 4096 / 128                           1024 blocks of 128 k-tiles
//     traffic                  256 * 32 * 2 bytes for 2 * 128 * 128 * 32 FLOP    64 FLOP for each byte copied
#include "gemm/tensor_warp_tiled/main_loop.h"
#include "gemm/tensor_warp_tiled/output.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    tensor_warp_tiled(int M, int N, int K, float alpha, const Element* __restrict__ A, long long lda,
                      const Element* __restrict__ B, long long ldb, float beta, Element* __restrict__ C, long long ldc,
                      int GROUP_M, float* workspace) {
    const WorkTile work(M, N, K, GROUP_M);
    Accumulators accumulators = {};
    multiply_k_tiles<Fragments>(accumulators, dynamic_shared<Element>(), work, A, lda, B, ldb, M, N, K);
    write_tile(accumulators, work, alpha, beta, C, ldc, M, N, workspace);
}
