// The large operand: copies its blocks to shared memory, and makes fragments of mma.sync from them.
#pragma once

#include "configuration.h"
#include "device/partial_copy.h"
#include "device/stream.h"

constexpr int DEPTH = 32;                        // number of k-steps of a block
constexpr int FRAGMENTS_M = WARP_ROWS / 16;      // number of fragments of a warp, 16 rows each
constexpr int OWN = WARP_ROWS / 8;               // number of rows of a lane
constexpr int LINES = LARGE_ALONG_K ? OWN : 8;   // number of lines in memory that have elements of a lane's fragments
constexpr int LENGTH = LARGE_ALONG_K ? 8 : OWN;  // number of a lane's elements in each of these lines, side by side
constexpr int CHUNKS = WARP_ROWS / 8;            // number of 16-byte chunks of a block that a lane copies
constexpr int BLOCK = DEPTH * WARP_ROWS;         // number of elements of a block
static_assert(WARP_ROWS % 16 == 0, "fragments of 16 rows");
static_assert(LENGTH == 4 || LENGTH == 8, "a lane reads 8 or 16 bytes at once");

/// Returns the row, among the warp's rows, of elements c[2 * half] and c[2 * half + 1] of this lane's fragment i of C.
__device__ __forceinline__ int row_of(int i, int half) {
    const int g = threadIdx.x % 32 / 4;
    return LARGE_ALONG_K ? 16 * i + 8 * half + g : OWN * g + 2 * i + half;
}

/// If the large operand is contiguous along K: returns where this lane's 8 elements of line `line` begin in a block in
/// shared memory, as the index of their first element. The elements of neighbouring lanes are neighbours.
__device__ __forceinline__ int place_along_k(int line) { return (32 * line + static_cast<int>(threadIdx.x % 32)) * 8; }

/// If the large operand is contiguous along M or N: returns where rows 8 * chunk .. 8 * chunk + 7 of k-step 8 * t +
/// line begin in a block in shared memory, as the index of their first element. Because of the exclusive or,
/// neighbouring lanes use different banks, both when they write and when they read.
__device__ __forceinline__ int place_along_rows(int line, int t, int chunk) {
    return 8 * ((4 * line + t) * CHUNKS + (chunk ^ (CHUNKS == 8 ? 2 * t : t / 2 * 2)));
}

/// The part of the large operand that a warp multiplies: its WARP_ROWS rows, from k-step k on. Instead of rows beyond
/// the last one, existing rows are read again. The sums of rows beyond the last one are never written.
struct Large {
    const Element* matrix;
    long long stride;
    int row, rows;  // the warp's first row; number of rows of the matrix
    int present;    // number of k-steps that exist from k on
    int unit;       // number of elements per copy: 8, 4 or 2 with asynchronous copies, or 1 without

    __device__ __forceinline__ Large(const Element* from, long long leading, int first_row, int all_rows, int k, int K)
        : matrix(from + k * (LARGE_ALONG_K ? 1 : leading)),
          stride(leading),
          row(first_row),
          rows(all_rows),
          present(K - k) {
        const auto address = reinterpret_cast<unsigned long long>(from);
        const auto fits = [&](int count) {  // whether copies of `count` elements are aligned and stay inside of a line
            return address % (2 * count) == 0 && leading % count == 0 && (LARGE_ALONG_K || rows % count == 0);
        };
        unit = fits(8) ? 8 : fits(4) ? 4 : fits(2) ? 2 : 1;
    }

    /// Starts copying the block that begins `k` k-steps after the constructor's k. K-steps beyond the last one become
    /// zeros.
    __device__ __forceinline__ void copy(Element* block, int k) const {
        if (k + DEPTH > present) {
            copy_elements(block, k);
        } else if (unit == 8) {
            copy_units<8>(block, k);
        } else if (unit == 4) {
            copy_units<4>(block, k);
        } else if (unit == 2) {
            copy_units<2>(block, k);
        } else {
            copy_elements(block, k);
        }
    }

    /// Whether each chunk is aligned to 16 bytes, and lies either inside or outside of the matrix.
    __device__ __forceinline__ bool has_whole_chunks() const {
        return unit == 8 && (!LARGE_ALONG_K || present % 8 == 0);
    }

private:
    friend struct LargeChunks;

    // Which chunks a lane copies. If the operand is contiguous along K, a lane copies the chunks of its own fragments:
    // 8 k-steps of each of its rows. If the operand is contiguous along M or N, the lane's i-th chunk is chunk
    // lane_chunk() of k-step 8 * lane_t() + line_of(i). So CHUNKS neighbouring lanes copy a whole k-step, and a request
    // to the L2 cache is 64 or 128 bytes. Other lanes read what a lane has copied.
    static __device__ __forceinline__ int lane_chunk() { return threadIdx.x % 32 % CHUNKS; }
    static __device__ __forceinline__ int lane_t() { return threadIdx.x % 32 / CHUNKS % 4; }
    static __device__ __forceinline__ int line_of(int i) { return i * (8 / CHUNKS) + threadIdx.x % 32 / CHUNKS / 4; }

    /// Returns the index, in a block in shared memory, of the first element of the lane's i-th chunk.
    static __device__ __forceinline__ int place(int i) {
        return LARGE_ALONG_K ? place_along_k(i) : place_along_rows(line_of(i), lane_t(), lane_chunk());
    }

    /// Returns the k-step, counted from the block's first one, of element n of the lane's i-th chunk.
    static __device__ __forceinline__ int step_of(int i, int n) {
        return LARGE_ALONG_K ? threadIdx.x % 4 * 8 + n : 8 * lane_t() + line_of(i);
    }

    /// Returns the address in the matrix of elements n .. n + count - 1 of the lane's i-th chunk. `k` is the first
    /// k-step of the block, counted from the constructor's k.
    __device__ __forceinline__ const Element* source(int i, int n, int count, int k) const {
        if (LARGE_ALONG_K) {
            return matrix + min(row + row_of(i / 2, i % 2), rows - 1) * stride + (k + step_of(i, n));
        }
        return matrix + (k + step_of(i, n)) * stride + min(row + 8 * lane_chunk() + n, rows - count);
    }

    template <int UNIT>
    __device__ __forceinline__ void copy_units(Element* block, int k) const {
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
#pragma unroll
            for (int n = 0; n < 8; n += UNIT) copy_once<2 * UNIT>(block + place(i) + n, source(i, n, UNIT, k));
        }
    }

    __device__ __forceinline__ void copy_elements(Element* block, int k) const {
        constexpr int AT_ONCE = 2;  // number of chunks whose loads are on their way at once
#pragma unroll 1
        for (int first = 0; first < CHUNKS; first += AT_ONCE) {
            Element elements[AT_ONCE][8];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
                for (int n = 0; n < 8; ++n) {
                    elements[i][n] = {};
                    if (k + step_of(first + i, n) < present) elements[i][n] = *source(first + i, n, 1, k);
                }
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
                for (int n = 0; n < 8; ++n) block[place(first + i) + n] = elements[i][n];
            }
        }
    }
};

/// Addresses of chunks that a lane copies, for a matrix with whole chunks (Large::has_whole_chunks()). They belong to
/// one block, the first block. copy() finds other blocks by their distance from it.
struct LargeChunks {
    static constexpr int KEPT = LARGE_ALONG_K ? CHUNKS : 1;  // number of kept addresses
    const Element* chunks[KEPT];  // those of all chunks if the operand is contiguous along K, otherwise of chunk 0
    long long stride;
    int left;  // number of k-steps that exist from the first block on; not positive if it lies beyond the last k-step

    /// The first block begins `k` k-steps after the first k-step of `large`.
    __device__ __forceinline__ LargeChunks(const Large& large, int k) : stride(large.stride), left(large.present - k) {
#pragma unroll
        for (int i = 0; i < KEPT; ++i) chunks[i] = large.source(i, 0, 8, k);
    }

    /// Moves the first block by `k` k-steps.
    __device__ __forceinline__ void advance(int k) {
        left -= k;
#pragma unroll
        for (int i = 0; i < KEPT; ++i) chunks[i] += LARGE_ALONG_K ? k : k * stride;
    }

    /// Starts copying the block `k` k-steps after the first one. K-steps beyond the last one become zeros.
    __device__ __forceinline__ void copy(Element* block, int k) const {
        const bool is_whole = k + DEPTH <= left;
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            const Element* const from =
                LARGE_ALONG_K ? chunks[i % KEPT] + k : chunks[0] + (k + i * (8 / CHUNKS)) * stride;
            if (is_whole) {
                copy_once<16>(block + Large::place(i), from);
            } else {
                copy_part_async(block + Large::place(i), from, k + Large::step_of(i, 0) < left ? 16 : 0);
            }
        }
    }
};

/// A lane's part of a block in registers, with two elements in a word.
struct Block {
    static constexpr int LINE = LENGTH / 2;  // number of words that a lane reads at once
    unsigned words[LINES * LINE];

    __device__ __forceinline__ explicit Block(const Element* block) {
#pragma unroll
        for (int line = 0; line < LINES; ++line) {
            const int first_row = OWN * (threadIdx.x % 32 / 4);
            load_words<LINE>(
                words + line * LINE,
                block + (LARGE_ALONG_K ? place_along_k(line)
                                       : place_along_rows(line, threadIdx.x % 4, first_row / 8) + first_row % 8));
        }
    }

    /// Writes to `a` the lane's fragment i for instruction `step` (0 or 1) of the block. The fragment consists of pairs
    /// 2 * step and 2 * step + 1 of the lane's four pairs of k-steps.
    __device__ __forceinline__ void fragment(unsigned (&a)[4], int i, int step) const {
#pragma unroll
        for (int n = 0; n < 4; ++n) a[n] = pair(i, n % 2, 2 * step + n / 2);
    }

private:
    /// Returns k-steps 2 * pair and 2 * pair + 1 (of the lane's 8 k-steps) of the lane's row 2 * i + half, as one word.
    __device__ __forceinline__ unsigned pair(int i, int half, int pair) const {
        if (LARGE_ALONG_K) return words[(2 * i + half) * LINE + pair];
        const unsigned first = words[2 * pair * LINE + i], second = words[(2 * pair + 1) * LINE + i];
        return half == 0 ? (first & 0xffffu) | second << 16 : first >> 16 | (second & 0xffff0000u);
    }
};
