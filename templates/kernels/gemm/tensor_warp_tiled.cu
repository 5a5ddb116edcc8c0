// tensor_warp_tiled: C = alpha * op(A) * op(B) + beta * C on tensor cores (compute capability 8.0 and up). Elements are
// f16, bf16 or tf32, sums are FP32. The matrices are row-major. Any layout, shape, stride and alignment is allowed.
// op(A) is A or its transpose and has M x K elements; op(B) has K x N.
//
// Reading order: this page, device/tensor_core.h (which lane has which element), tile.h (shared memory), fragments.h,
// main_loop.h (the pipeline), work_tile.h, output.h (the epilogue).
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
// A lane keeps 4 sums of each 16 x 8 elements of C: WARP_M * WARP_N / 32 in all. In this kernel, a k-step is the depth
// of one instruction: STEP = 16, or 8 for tf32, which are 32 bytes in both cases. For each k-step, a warp loads
// WARP_M / 16 fragments of A and WARP_N / 8 of B once, and uses them in WARP_M / 16 * WARP_N / 8 instructions. One
// ldmatrix.x4 loads 16 x STEP elements: a fragment of A, or two of B.
//
//
// A STAGE OF SHARED MEMORY
//
// A stage holds a k-tile: BLOCK_K columns of op(A), then BLOCK_K rows of op(B). A line is a run of elements that are
// contiguous in global memory. A chunk is 16 bytes of a line: 8 elements, or 4 of tf32. Copies do not transpose, so
// each can move a whole chunk. Where a fragment needs the transpose, ldmatrix transposes.
//
//     A in layouts n., B in layouts .t    contiguous along K: a line is a row of op(A) or a column of op(B) and has
//                                         BLOCK_K elements
//     A in layouts t., B in layouts .n    contiguous along M or N: a line is a column of op(A) with BLOCK_M elements,
//                                         or a row of op(B) with BLOCK_N elements
//
// ldmatrix reads one chunk of each of 8 lines. The 32 banks form 8 columns of 16 bytes. Shared memory serves the 8
// chunks at once if they lie in 8 different columns. But if lines have 128 bytes, chunk c of every line would lie in
// the same column. So the chunks of a line are permuted (XOR swizzle):
//
//     place(line, chunk) = line * CHUNKS + (chunk ^ line / (8 / SPAN) % SPAN)      CHUNKS per line, SPAN = 8, 4 or 2
//
//     CHUNKS = 8 (64 elements of 16 bits)           CHUNKS = 4 (32 elements of 16 bits): two lines fill the 8 columns
//     line 0:  0 1 2 3 4 5 6 7                      lines 0, 1:  0 1 2 3  0 1 2 3
//     line 1:  1 0 3 2 5 4 7 6                      lines 2, 3:  1 0 3 2  1 0 3 2
//     line 2:  2 3 0 1 6 7 4 5                      lines 4, 5:  2 3 0 1  2 3 0 1
//     ...chunk 0 of 8 lines is in 8 columns         lines 6, 7:  3 2 1 0  3 2 1 0
//
// ldmatrix can transpose only elements of 16 bits. If lines of tf32 are along M or N, the lanes therefore read them one
// element at a time. A warp then reads 4 lines at once, and 8 elements, which are two chunks, of each line. So pairs of
// chunks are permuted: place(line, chunk) = line * CHUNKS + (chunk ^ line % 4 * 2).
//
//
// TF32
//
// An element of tf32 is a float in global and in shared memory. It is rounded to the 11 bits of TF32 when a lane loads
// it into a register (cvt.rna.tf32.f32: to nearest, ties away from zero). Without this, mma.sync would truncate it.
// Products are exact. Sums, alpha, beta and C are FP32, and C is never rounded to TF32.
//
//
// THE PIPELINE
//
// k-tile t is in stage t % STAGES. While k-tile t is multiplied, k-tile t + STAGES - 1 is copied into the stage of
// k-tile t - 1, which is not needed any more. One barrier per k-tile is enough. For STAGES = 3:
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
// Copies beyond the matrix write zeros, because cp.async can be told how many of the 16 bytes to read. So tiles at the
// edges of M, N and K need no other code. Rows that do not start at multiples of 16 bytes (because of the pointer or
// the leading dimension) cannot be copied this way. Rows of tf32 are then copied by the same pipeline, 4 bytes at a
// time. cp.async cannot copy 2 bytes, so rows of 16-bit elements are copied element by element (multiply_guarded, one
// stage), which is slow. A, lda, B and ldb decide which of these ways a block uses. C is written a chunk at a time if
// its rows are aligned and the whole chunk is inside of C, and element by element otherwise.
//
//
// GRID AND SPLIT-K
//
//     gridDim.x = tiles * SPLIT_K       part = blockIdx.x / tiles       tile = blockIdx.x % tiles
//
// Tile numbers run down GROUP_M rows of tiles, then continue in the next column. So blocks that run at the same time
// share rows of A and columns of B in the L2 cache. SPLIT_K blocks share a tile. If K has T k-tiles, part p consists
// of k-tiles T * p / SPLIT_K .. T * (p + 1) / SPLIT_K - 1. Each of these blocks writes its sums to the workspace. The
// last block to arrive adds up the sums in the order of the parts, so the same configuration gives the same bits.
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
#include "device/dependent_launch.h"
#include "gemm/tensor_warp_tiled/main_loop.h"
#include "gemm/tensor_warp_tiled/output.h"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    tensor_warp_tiled(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B,
                      long long ldb, float beta, Element* __restrict__ C, long long ldc, int GROUP_M,
                      float* workspace) {
    const WorkTile work(M, N, K, GROUP_M);
    wait_for_previous_kernel(min(work.row, work.k));
    Accumulators accumulators = {};
    multiply_k_tiles<Fragments>(accumulators, dynamic_shared<Element>(), work, A, lda, B, ldb, M, N, K);
    write_tile(accumulators, work, alpha, beta, C, ldc, M, N, workspace);
}
