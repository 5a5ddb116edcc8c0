// The large operand: how blocks of it get into a lane's part of shared memory, and from there to fragments of mma.sync.
#pragma once

#include "configuration.h"
#include "device/stream.h"

constexpr int DEPTH = 32;                        // k-steps of a block
constexpr int FRAGMENTS_M = WARP_ROWS / 16;      // of a warp, 16 rows each
constexpr int OWN = WARP_ROWS / 8;               // rows of a lane
constexpr int LINES = LARGE_ALONG_K ? OWN : 8;   // pieces of lines in memory that a lane has of a block
constexpr int LENGTH = LARGE_ALONG_K ? 8 : OWN;  // neighbours in memory of each
constexpr int BLOCK = DEPTH * WARP_ROWS;         // elements
static_assert(WARP_ROWS % 16 == 0, "fragments of 16 rows");
static_assert(LENGTH == 4 || LENGTH == 8, "a piece is 8 or 16 bytes");

/// A warp's row: the one of elements c[2 * half] and c[2 * half + 1] of a lane's fragment i.
__device__ __forceinline__ int row_of(int i, int half) {
    const int g = threadIdx.x % 32 / 4;
    return LARGE_ALONG_K ? 16 * i + 8 * half + g : OWN * g + 2 * i + half;
}

/// Where a lane's piece of a line is in a block in shared memory. The pieces of a warp lie side by side.
__device__ __forceinline__ int piece_of(int line) { return (32 * line + static_cast<int>(threadIdx.x % 32)) * LENGTH; }

/// A lane's part of a warp's rows, from a k-step on. Rows behind the last one repeat it: their sums are not written.
struct Large {
    const Element* matrix;
    long long stride;
    int row, rows;  // the warp's first row; the number of all
    int present;    // k-steps
    int unit;       // elements that are copied at once: 8, 4 or 2 asynchronously, or 1

    __device__ __forceinline__ Large(const Element* from, long long leading, int first_row, int all_rows, int k, int K)
        : matrix(from + k * (LARGE_ALONG_K ? 1 : leading)),
          stride(leading),
          row(first_row),
          rows(all_rows),
          present(K - k) {
        const auto address = reinterpret_cast<unsigned long long>(from);
        const auto fits = [&](int count) {  // aligned, and no copy reaches past the end of a line
            return address % (2 * count) == 0 && leading % count == 0 && (LARGE_ALONG_K || rows % count == 0);
        };
        unit = LENGTH == 8 && fits(8) ? 8 : fits(4) ? 4 : fits(2) ? 2 : 1;
    }

    /// Starts copying the block that begins k k-steps further on. What lies behind the last k-step becomes zeros.
    __device__ __forceinline__ void copy(Element* block, int k) const {
        if (k + DEPTH > present) {
            copy_elements(block, k);
        } else if (LENGTH == 8 && unit == 8) {
            copy_units<LENGTH>(block, k);
        } else if (unit == 4) {
            copy_units<4>(block, k);
        } else if (unit == 2) {
            copy_units<2>(block, k);
        } else {
            copy_elements(block, k);
        }
    }

private:
    /// `count` elements from the n-th of a lane's piece of a line on.
    __device__ __forceinline__ const Element* source(int line, int n, int count, int k) const {
        const int t = threadIdx.x % 4;
        if (LARGE_ALONG_K) {
            return matrix + min(row + row_of(line / 2, line % 2), rows - 1) * stride + (k + 8 * t + n);
        }
        return matrix + (k + 8 * t + line) * stride + min(row + row_of(0, 0) + n, rows - count);
    }

    template <int UNIT>
    __device__ __forceinline__ void copy_units(Element* block, int k) const {
#pragma unroll
        for (int line = 0; line < LINES; ++line) {
#pragma unroll
            for (int n = 0; n < LENGTH; n += UNIT) {
                copy_once<2 * UNIT>(block + piece_of(line) + n, source(line, n, UNIT, k));
            }
        }
    }

    __device__ __forceinline__ void copy_elements(Element* block, int k) const {
        constexpr int AT_ONCE = 2;  // lines
#pragma unroll 1
        for (int first = 0; first < LINES; first += AT_ONCE) {
            Element elements[AT_ONCE][LENGTH];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
                for (int n = 0; n < LENGTH; ++n) {
                    const int step = k + threadIdx.x % 4 * 8 + (LARGE_ALONG_K ? n : first + i);
                    elements[i][n] = {};
                    if (step < present) elements[i][n] = *source(first + i, n, 1, k);
                }
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
                for (int n = 0; n < LENGTH; ++n) block[piece_of(first + i) + n] = elements[i][n];
            }
        }
    }
};

/// What a lane has of a block, two elements in a word.
struct Block {
    static constexpr int LINE = LENGTH / 2;  // words
    unsigned words[LINES * LINE];

    __device__ __forceinline__ explicit Block(const Element* block) {
#pragma unroll
        for (int line = 0; line < LINES; ++line) load_words<LINE>(words + line * LINE, block + piece_of(line));
    }

    /// Fragment i of the block's first or second 16 k-steps: of the pairs of k-steps that a lane has, pairs 2 * step
    /// and 2 * step + 1.
    __device__ __forceinline__ void fragment(unsigned (&a)[4], int i, int step) const {
#pragma unroll
        for (int n = 0; n < 4; ++n) a[n] = pair(i, n % 2, 2 * step + n / 2);
    }

private:
    /// k-steps 2 * pair and 2 * pair + 1, of the lane's 8, of one of its rows.
    __device__ __forceinline__ unsigned pair(int i, int half, int pair) const {
        if (LARGE_ALONG_K) return words[(2 * i + half) * LINE + pair];
        const unsigned first = words[2 * pair * LINE + i], second = words[(2 * pair + 1) * LINE + i];
        return half == 0 ? (first & 0xffffu) | second << 16 : first >> 16 | (second & 0xffff0000u);
    }
};
