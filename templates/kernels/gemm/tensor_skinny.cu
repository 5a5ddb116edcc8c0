// tensor_skinny: products with few rows or few columns, or with a vector, on tensor cores (compute capability 8.0 and
// up). Elements are f16 or bf16, sums are FP32. Any layout, shape, stride and alignment is allowed.
//
// Memory bandwidth limits such products, so enough bytes of the larger of A and B (the large operand) must be on their
// way at any time. Each warp streams its own part of the large operand. It copies asynchronously into its own part of
// shared memory, so these copies need no barrier. Tensor cores are so fast that they pay off even for a single column,
// although each instruction computes 8 columns.
//
// In these files, the large operand has "rows": rows of op(A), or columns of op(B) if C has few rows. The small operand
// has at most COLUMNS "columns". In mma.sync, the small operand is the right operand, which has 8 columns. If C has few
// rows, the product is C^T = op(B)^T op(A)^T.
//
//     large operand, rows x K                             small operand, K x COLUMNS      tile of C, TILE x COLUMNS
//                        K                                +--+                            +--+
//         +-----------------------------------+           |  |  panel 0, PANEL k-steps    |  |  warp % WARPS_M = 0
//         |  0 0 1 1 2 2 3 3 0 0 1 1 2 2 ...  |  TILE     |  |                            |  |
//         |                                   |           +--+                            +--+
//         +-----------------------------------+           |  |  panel 1                   |  |  warp % WARPS_M = 1
//         |                                   |           |  |                            |  |
//         +-----------------------------------+           ...                             +--+
//           each number says to which slice 32 k-steps belong (SLICES_K = 4; RUN = 2 neighbours have the same slice)
//
// In these files, a "block" is a part of the large operand: 32 k-steps of a warp's WARP_ROWS rows. "Thread block" is
// the CUDA term. WARPS_M x SLICES_K warps compute a tile. If two or more thread blocks per tile fit on the GPU at once
// and K is long enough, they share the tile and divide K among them (gridDim.y). The sums of slices, and then of thread
// blocks, are added up in a fixed order.
//
//
// THE RING BUFFER
//
// A warp has a ring buffer in shared memory with room for LOADS blocks. So LOADS blocks are on their way at the same
// time. The warp copies them 16 bytes at a time:
//
//     large operand contiguous along K     A lane copies the elements of its own fragments, and reads only what it has
//                                          copied. So it waits for no other lane.
//     contiguous along M or N              Neighbouring lanes copy neighbours in memory. If WARP_ROWS is 64, 8 lanes
//                                          copy 128 bytes; if it is 32, 4 lanes copy 64 bytes. Other lanes read
//                                          these bytes, so the warp waits for the copies of all its lanes. If each lane
//                                          copied its own fragments, 8 neighbouring lanes would copy 4 pieces of at
//                                          most 32 bytes, too small for efficient requests to the L2 cache.
//
// Both arrangements in shared memory have no bank conflicts.
//
// The small operand is divided into panels. A panel has the k-steps of LOADS blocks of each slice. Shared memory holds
// two panels: one is multiplied while the next one is copied. All warps copy the panels together, so there is a barrier
// for each panel. In each round of the main loop, a thread makes LOADS groups of copies, one for each block. The first
// group also contains the thread's part of the panel. So before the barrier, the thread waits only for the oldest of
// its LOADS groups.
//
//     round        -1                    0                               1
//     blocks       [copy for round 0] |  multiply, copy for round 1  |  multiply, copy for round 2
//     panels       [copy 0 .........  |  copy 1 .................    |  copy 2
//                                     ^ wait for the oldest group of copies, then a barrier
//
// A copy needs an address in the matrix and a place in shared memory. With KEEP_ADDRESSES, a lane keeps addresses in
// the matrix in registers (LargeChunks), and the loop over the blocks of a round is unrolled, so that the places are
// constants. Then it takes fewer instructions to copy a block. If a piece of 16 bytes is not aligned or lies only
// partly inside of the matrix, the kernel works as without KEEP_ADDRESSES.
//
//
// FRAGMENTS
//
// An mma.sync multiplies 16 rows x 16 k-steps of the large operand by 16 k-steps x 8 columns. Lane (g, t) = (lane / 4,
// lane % 4) holds k-steps 2t, 2t + 1, 2t + 8 and 2t + 9 of rows g and g + 8. The k-steps of the matrix may be assigned
// to those of the instruction in any order, if both operands have the same order. The rows may be assigned in any
// order, too, if C has the same order. This kernel chooses orders that allow copies of 16 bytes: a lane has k-steps 8t
// .. 8t + 7 of a block. These are 4 pairs, and each of two instructions takes 2 of them.
//
//     large operand contiguous along K         a lane reads 8 k-steps of one row. They fill 4 registers as they are.
//                                              The lanes of a row read 64 bytes that lie side by side.
//     contiguous along M or N                  a lane reads WARP_ROWS / 8 rows of one k-step at once. A register holds
//                                              one pair: k-steps 2p and 2p + 1 of the same row. So the lane interleaves
//                                              the elements of these two k-steps.
//
// Lanes read the small operand in the same order of k-steps: with loads of 16 bytes if the small operand is contiguous
// along K, otherwise with ldmatrix, which transposes.
//
//
// EDGES
//
// If the large operand is not aligned to 16 bytes, it is copied 8 or 4 bytes at a time, or element by element. If K is
// not a multiple of 32, the last block along K is copied element by element. With KEEP_ADDRESSES, it is copied 16 bytes
// at a time if possible (Large::has_whole_chunks()), with zeros for the missing k-steps. The sums of rows and columns
// beyond the edge of C are computed from arbitrary values and are not written.
//
//
// ONE CONFIGURATION, WORKED THROUGH
//
//     COLUMNS=16 WARP_ROWS=32 WARPS_M=1 SLICES_K=8 LOADS=4 BLOCKS_PER_SM=1, 4096x16x4096, layout nn, f16, 132
//     multiprocessors
//
//     grid                     4096 / 32 tiles, 132 / 128 thread blocks for each     128 thread blocks of 256 threads
//     a block of a warp        32 rows * 32 k-steps * 2                              2048 bytes, 4 copies of a lane
//     its products             2 fragments * 2 instructions * 2 groups of columns    8 mma.sync
//     on their way             8 warps * 4 blocks * 2048                             65,536 bytes
//     panels                   4 * 8 * 32 k-steps * 16 * 2                           32,768 bytes, twice; 4 rounds
//     traffic                  32 * 4096 * 2 of A, 4096 * 16 * 2 of B                262,144 and 131,072 bytes a tile
#include "device/dependent_launch.h"
#include "device/shared.h"
#include "gemm/tensor_skinny/large.h"
#include "gemm/tensor_skinny/small.h"
#include "gemm/tensor_skinny/sums.h"

constexpr int RUN = LOADS % 2 == 0 ? 2 : 1;  // neighbouring blocks with the same slice; two span 128 bytes of a row
static_assert(PANEL == DEPTH * LOADS * SLICES_K, "a panel has LOADS blocks for each slice");
static_assert(THREADS == 32 * WARPS_M * SLICES_K, "a warp for each part of a tile");

/// Returns the index, among the blocks of all slices, of the i-th block of this slice.
__device__ __forceinline__ int block_of(int i, int slice) { return (i / RUN * SLICES_K + slice) * RUN + i % RUN; }

/// Returns how many of `blocks` blocks belong to this slice.
__device__ __forceinline__ int blocks_of(int blocks, int slice) {
    return blocks / (RUN * SLICES_K) * RUN + max(0, min(RUN, blocks % (RUN * SLICES_K) - slice * RUN));
}

/// sums += block * b. Here b is the part of the small operand with the same k-steps as `block`. `number` is the index
/// of the block in the panel, among the blocks of all slices.
__device__ __forceinline__ void multiply_block(Sums& sums, const Block& block, const Element* panel, int number) {
    unsigned b[GROUPS][4];
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) Small::load(b[group], panel, number, group);
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            unsigned a[4];
            block.fragment(a, i, step);
#pragma unroll
            for (int group = 0; group < GROUPS; ++group) {
                multiply_add<Element>(sums.of[i][group], a, b[group][2 * step], b[group][2 * step + 1]);
            }
        }
    }
}

/// Adds to `sums` the products of all `count` blocks of a slice. The thread block's part of K has `panels` panels.
/// `ring` has room for LOADS blocks of this warp. Round `panel` multiplies the blocks with the k-steps of this panel,
/// and copies the blocks of the next panel to the same places.
__device__ __forceinline__ void multiply_blocks(Sums& sums, Element* panel_stages, Element* ring, const Large& large,
                                                const Small& small, int slice, int count, int panels) {
#pragma unroll 1
    for (int panel = -1; panel < panels; ++panel) {  // round -1 only starts copies
        if (panel >= 0) {
            wait_for_copies<LOADS - 1>();
            __syncthreads();  // this panel is complete, and no thread reads the previous panel any more
        }
        const Element* const stage = panel_stages + (panel & 1) * PANEL_ELEMENTS;
        const int left = count - panel * LOADS;
#pragma unroll 1
        for (int i = 0; i < LOADS; ++i) {
            wait_for_copies<LOADS - 1>();
            if (!LARGE_ALONG_K) __syncwarp();  // the copies of all lanes are complete
            if (panel >= 0 && i < left) multiply_block(sums, Block(ring + i * BLOCK), stage, block_of(i, slice));
            if (!LARGE_ALONG_K) __syncwarp();  // no lane reads the block any more
            if (i + LOADS < left) large.copy(ring + i * BLOCK, panel * PANEL + DEPTH * block_of(i + LOADS, slice));
            if (i == 0 && panel + 1 < panels) {
                small.copy(panel_stages + ((panel + 1) & 1) * PANEL_ELEMENTS, PANEL * (panel + 1));
            }
            commit_copies();  // the group may be empty: wait_for_copies counts one group per block
        }
    }
}

/// The same as multiply_blocks(), but only for a matrix with whole chunks (Large::has_whole_chunks()). The loop over
/// the blocks of a round is unrolled, so that the places in shared memory and the distances between blocks are
/// constants. At the call, the first block of `next` is the slice's first block. Round `panel` moves it to the first
/// block of the next panel.
__device__ __forceinline__ void multiply_whole_chunks(Sums& sums, Element* panel_stages, Element* ring,
                                                      LargeChunks next, const Small& small, int slice, int count,
                                                      int panels) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        if (i < count) next.copy(ring + i * BLOCK, DEPTH * block_of(i, 0));
        if (i == 0) small.copy(panel_stages, 0);
        commit_copies();
    }
#pragma unroll 1
    for (int panel = 0; panel < panels; ++panel) {
        wait_for_copies<LOADS - 1>();
        __syncthreads();  // this panel is complete, and no thread reads the previous panel any more
        const Element* const stage = panel_stages + (panel & 1) * PANEL_ELEMENTS;
        const int left = count - panel * LOADS;
        next.advance(PANEL);
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            wait_for_copies<LOADS - 1>();
            if (!LARGE_ALONG_K) __syncwarp();  // the copies of all lanes are complete
            if (i < left) multiply_block(sums, Block(ring + i * BLOCK), stage, block_of(i, slice));
            if (!LARGE_ALONG_K) __syncwarp();  // no lane reads the block any more
            if (i + LOADS < left) next.copy(ring + i * BLOCK, DEPTH * block_of(i, 0));
            if (i == 0 && panel + 1 < panels) {
                small.copy(panel_stages + ((panel + 1) & 1) * PANEL_ELEMENTS, PANEL * (panel + 1));
            }
            commit_copies();  // the group may be empty: wait_for_copies counts one group per block
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    tensor_skinny(int M, int N, int K, float alpha, const Element* A, long long lda, const Element* B, long long ldb,
                  float beta, Element* __restrict__ C, long long ldc, float* workspace) {
    const int rows = NARROW_IS_B ? M : N, columns = NARROW_IS_B ? N : M;
    const int row_tiles = (rows - 1) / TILE + 1;
    const int tile = blockIdx.x, split = blockIdx.y, splits = gridDim.y;
    const int first_row = tile % row_tiles * TILE, first_column = tile / row_tiles * COLUMNS;
    const int warp = threadIdx.x / 32, slice = warp / WARPS_M, warp_row = warp % WARPS_M * WARP_ROWS;

    const int all = K / DEPTH + (K % DEPTH != 0);  // number of blocks along K
    const int begin = all / splits * split + min(split, all % splits);
    const int blocks = all / splits + (split < all % splits);
    const int first_k = DEPTH * begin;
    const int panels = (blocks + LOADS * SLICES_K - 1) / (LOADS * SLICES_K);
    const int count = blocks_of(blocks, slice);

    constexpr bool STRIDE_ALONG_K = NARROW_IS_B ? !TRANSPOSE_B : TRANSPOSE_A;
    const long long small_stride = NARROW_IS_B ? ldb : lda;
    Small small{NARROW_IS_B ? B : A, STRIDE_ALONG_K ? small_stride : 1, STRIDE_ALONG_K ? 1 : small_stride};
    small.columns = min(COLUMNS, columns - first_column);
    small.needed = DEPTH * blocks;
    small.present = K - first_k;
    small.from += first_k * small.along_k + first_column * small.across;

    auto* const shared = dynamic_shared<Element>();
    Sums sums = {};
    Element* const ring = shared + 2 * PANEL_ELEMENTS + warp * LOADS * BLOCK;
    const Large large(NARROW_IS_B ? A : B, NARROW_IS_B ? lda : ldb, first_row + warp_row, rows, first_k, K);
    wait_for_previous_kernel(min(first_k, first_row));
    if constexpr (KEEP_ADDRESSES == 0) {
        multiply_blocks(sums, shared, ring, large, small, slice, count, panels);
    } else if (large.has_whole_chunks()) {
        const LargeChunks chunks(large, DEPTH * block_of(0, slice));
        multiply_whole_chunks(sums, shared, ring, chunks, small, slice, count, panels);
    } else {
        multiply_blocks(sums, shared, ring, large, small, slice, count, panels);
    }

    __syncthreads();  // no thread reads panels and blocks any more
    auto* const all_sums = reinterpret_cast<float*>(shared);
    store_sums(all_sums + slice * SLICE_SUMS, sums, warp_row);
    __syncthreads();                                                                 // all sums are in shared memory
    const int lines = LINES_ALONG_ROWS ? columns - first_column : rows - first_row;  // lines up to the edge of C
    const int length = LINES_ALONG_ROWS ? rows - first_row : columns - first_column;
    const long long step = NARROW_IS_B && LINES_ALONG_ROWS ? ldc : 1;
    Element* const to = C + (NARROW_IS_B ? first_row * ldc + first_column : first_column * ldc + first_row);
    const bool aligned = step == 1 && reinterpret_cast<unsigned long long>(to) % 8 == 0 && ldc % 4 == 0;
    add_up_tile(all_sums, workspace + tile * (4LL * splits * QUADS + 4), split, splits,
                [&](int quad, const float(&total)[4]) {
                    const int line = 4 * quad / LINE_LENGTH, at = 4 * quad % LINE_LENGTH;
                    if (line >= lines) return;
                    write_quad(to + line * ldc + at * step, step, total, length - at, aligned, alpha, beta);
                });
}
