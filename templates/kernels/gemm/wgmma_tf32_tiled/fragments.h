// Loads rows of the left operand from a stage of shared memory into registers.
//
// An instruction multiplies 64 rows and 8 k-steps. Lane 4 * g + t of warp w holds the elements of two rows at k-steps t
// and t + 4 (device/wgmma.h). The four lanes with the same g may hold any two rows of the left operand; their sums are
// then those of the same two rows of D. The choice depends on how the left operand is stored:
//
//     contiguous          rows 16 * w + g and 16 * w + g + 8. ldmatrix reads 16 bytes of 8 rows at once, and the
//     along K             swizzle puts these into different banks
//     contiguous          two neighbouring rows, so that one load of 8 bytes reads both. A line is one k-step of 32
//     along D's rows      rows, for two warps: 8 chunks of 16 bytes. Chunk c of line k is at place c ^ k % 8. Shared
//                         memory serves the 16 lanes with g = 0..3 at once. They read lines t = 0..3. The table says
//                         which half (8 bytes) of which chunk a lane reads in its line:
//
//                             g           0   1   2   3   4   5   6   7
//                             chunk - 2h  0   4   0   4   1   5   1   5        h = w % 2
//                             half        0   0   1   1   0   0   1   1
//
//                         If h is 0, the 16 lanes read chunks 0 and 4 of four lines. These chunks are at 8 different
//                         places, so all lanes read different banks. In layout nn, the 8 lanes with the same t, whose
//                         chunks are 0, 1, 4 and 5, write two whole sectors of 32 bytes of C at once.
#pragma once

#include "device/tensor_core.h"
#include "gemm/wgmma_tf32_tiled/stages.h"

constexpr int STEPS = BLOCK_K / 8;                   // number of instructions along K in a k-tile
constexpr int BLOCKS_OF_64 = ROWS / 64;              // number of instructions along a consumer's rows
constexpr int SECOND_ROW = LEFT_ALONG_ROWS ? 1 : 8;  // distance from a thread's first row to its second one

/// Returns the thread's first row among the 64 rows of an instruction of its warpgroup.
__device__ __forceinline__ int row_of_thread() {
    const int warp = threadIdx.x / 32 % 4, g = threadIdx.x % 32 / 4;
    if constexpr (LEFT_ALONG_ROWS) {
        return warp / 2 * 32 + 4 * (warp % 2 * 2 + g % 2 * 4 + g / 4) + g / 2 % 2 * 2;
    } else {
        return warp * 16 + g;
    }
}

/// A thread's fragments for one instruction along K (8 k-steps), as multiply_rows takes them. words[i] is for rows
/// i * 64 .. i * 64 + 63 of the consumer.
struct StepFragments {
    unsigned words[BLOCKS_OF_64][4];
};

/// A thread's fragments for a k-tile.
struct Fragments {
    unsigned words[BLOCKS_OF_64][STEPS][4];

    /// Loads the fragments from shared memory. `a` is the left operand in a stage. `consumer` is the index of this
    /// warpgroup among the consumers.
    __device__ __forceinline__ void load(const Element* a, int consumer) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
            const int first = consumer * ROWS + i * 64;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                unsigned(&to)[4] = words[i][step];
                if constexpr (LEFT_ALONG_ROWS) {
                    const int row = first + row_of_thread();
#pragma unroll
                    for (int n = 0; n < 2; ++n) {
                        const int k = step * 8 + n * 4 + lane % 4, chunk = row % LINE / CHUNK ^ k % 8;
                        const auto both = *reinterpret_cast<const uint2*>(a + (row / LINE * BLOCK_K + k) * LINE +
                                                                          chunk * CHUNK + row % CHUNK);
                        to[2 * n] = both.x;
                        to[2 * n + 1] = both.y;
                    }
                } else {
                    const int row = first + threadIdx.x / 32 % 4 * 16 + lane % 16;
                    load_matrices<false>(to, a + row * LINE + ((step * 2 + lane / 16) ^ row % 8) * CHUNK);
                }
            }
        }
    }

    __device__ __forceinline__ void round() {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
#pragma unroll
                for (int n = 0; n < 4; ++n) words[i][step][n] = to_tf32(__uint_as_float(words[i][step][n]));
            }
        }
    }

    /// Splits the fragments of instruction `step` along K. `big` becomes each element rounded to 11 bits, and `small`
    /// becomes element - big, rounded to 11 bits. If an element is infinite, `small` is NaN. If a finite element is
    /// rounded to infinity, `small` is the infinity of the opposite sign.
    __device__ __forceinline__ void split(int step, StepFragments& big, StepFragments& small) const {
#pragma unroll
        for (int i = 0; i < BLOCKS_OF_64; ++i) {
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const float value = __uint_as_float(words[i][step][n]);
                big.words[i][n] = to_tf32(value);
                small.words[i][n] = to_tf32(value - __uint_as_float(big.words[i][n]));
            }
        }
    }
};
