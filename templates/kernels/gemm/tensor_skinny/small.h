// The small operand: copies its panels to shared memory, and loads fragments from them.
#pragma once

#include "configuration.h"
#include "device/partial_copy.h"
#include "device/stream.h"
#include "device/tensor_core.h"

constexpr int GROUPS = COLUMNS > 8 ? COLUMNS / 8 : 1;  // number of fragments, 8 columns each
static_assert(COLUMNS == 1 || COLUMNS % 8 == 0, "fragments of 8 columns, or a vector");
static_assert(LINE_CHUNKS >= GROUPS && 8 % LINE_CHUNKS == 0, "a line has a chunk for each fragment");

/// At most COLUMNS columns of the small operand, from the thread block's first k-step on.
struct Small {
    const Element* from;
    long long along_k, across;  // distance in elements from one k-step to the next, and from one column to the next
    int columns;                // number of columns that exist, at most COLUMNS
    int needed, present;        // number of k-steps to multiply; number of existing ones (others are zeros)

    /// line_chunk and k_chunk return the index of a chunk (16 bytes) in a panel, for two arrangements of a panel.
    ///
    ///   - k_chunk, if the operand is contiguous along K: a chunk has 8 k-steps of one column. The chunks have the
    ///     order in which lanes read them.
    ///   - line_chunk otherwise: a chunk has one k-step of 8 columns, from column 8 * group on. A k-step is a line of
    ///     LINE_CHUNKS chunks. The exclusive or puts the 8 chunks that ldmatrix reads at once into different banks.
    static __device__ __forceinline__ int line_chunk(int k, int group) {
        const int low = k / 8 % 2, high = k / 16 % 2;
        const int turned = LINE_CHUNKS == 1 ? 2 * low + 4 * high : LINE_CHUNKS == 2 ? low + 4 * high : low + 2 * high;
        return (k * LINE_CHUNKS + group) ^ turned;
    }
    static __device__ __forceinline__ int k_chunk(int k, int column) {
        return (k / 32 * COLUMNS + column) * 4 + k / 8 % 4;
    }
    static __device__ __forceinline__ int place(int k, int column) {
        return SMALL_ALONG_K ? 8 * k_chunk(k, column) + k % 8 : 8 * line_chunk(k, column / 8) + column % 8;
    }

    /// Copies the panel that begins at k-step k (relative to `from`). The copies are asynchronous if lines are aligned
    /// to 16 bytes. Elements that no product needs are not copied.
    __device__ __forceinline__ void copy(Element* panel, int k) const {
        const bool is_aligned = reinterpret_cast<unsigned long long>(from) % 16 == 0 &&
                                (SMALL_ALONG_K ? along_k : across) == 1 &&
                                (columns == 1 || (SMALL_ALONG_K ? across : along_k) % 8 == 0);
        if (is_aligned) {
            copy_chunks(panel, k);
        } else {
            copy_elements(panel, k);
        }
    }

    /// Loads the fragments of columns 8 * group .. 8 * group + 7 for block `block` (32 k-steps) of a panel. In b[i],
    /// lane 4 * g + t gets k-steps 8t + 2i and 8t + 2i + 1 of the block in column 8 * group + g (in column 0 if COLUMNS
    /// is 1).
    static __device__ __forceinline__ void load(unsigned (&b)[4], const Element* panel, int block, int group) {
        const int lane = threadIdx.x % 32;
        if (SMALL_ALONG_K) {
            load_words<4>(b, panel + 8 * (COLUMNS == 1 ? block * 4 + lane % 4 : (block * GROUPS + group) * 32 + lane));
        } else {
            // ldmatrix loads four matrices. For t = 0 .. 3, rows 2t and 2t + 1 of matrix i are k-steps 8t + 2i and
            // 8t + 2i + 1.
            const int k = lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
            load_matrices<true>(b, panel + 8 * (block * 32 * LINE_CHUNKS + line_chunk(k, group)));
        }
    }

private:
    // If the operand is contiguous along K, the chunks that a thread copies are AT_ONCE columns apart. Otherwise the
    // chunks are AT_ONCE k-steps apart.
    __device__ __forceinline__ void copy_chunks(Element* panel, int k) const {
        constexpr int ACROSS = SMALL_ALONG_K ? PANEL / 8 : LINE_CHUNKS, AT_ONCE = THREADS / ACROSS;
        constexpr int COUNT = ((SMALL_ALONG_K ? COLUMNS : PANEL) + AT_ONCE - 1) / AT_ONCE;
        static_assert(SMALL_ALONG_K || AT_ONCE % 32 == 0, "the exclusive or is the same for all chunks of a thread");
        const int first = threadIdx.x / ACROSS, other = threadIdx.x % ACROSS * 8;
        const int step = SMALL_ALONG_K ? other : first, column = SMALL_ALONG_K ? first : other;
        const Element* source = from + (k + step) * along_k + column * across;
        Element* to = panel + 8 * (SMALL_ALONG_K ? k_chunk(step, column) : line_chunk(step, column / 8));
        const long long stride = AT_ONCE * (SMALL_ALONG_K ? across : along_k);
        const int end = SMALL_ALONG_K      ? (k + step < needed ? columns : 0)
                        : column < columns ? min(PANEL, needed - k)
                                           : 0;
        const int there = SMALL_ALONG_K ? present - k - step : columns - column;
#pragma unroll 1
        for (int i = 0; i < COUNT; ++i, source += stride) {
            const int at = first + i * AT_ONCE;
            if (at >= end) break;
            const int bytes = SMALL_ALONG_K || k + at < present ? 2 * max(0, min(8, there)) : 0;
            copy_part_async(to, bytes > 0 ? source : from, bytes);
            to += 8 * AT_ONCE * (SMALL_ALONG_K ? 4 : LINE_CHUNKS);
        }
    }

    __device__ __forceinline__ void copy_elements(Element* panel, int k) const {
        constexpr int AT_ONCE = 8;  // number of loads that are on their way at once
        const int last = min(PANEL, needed - k), count = PANEL * columns;
#pragma unroll 1
        for (int first = threadIdx.x; first < count; first += AT_ONCE * THREADS) {
            Element elements[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int at = first + i * THREADS, step = at % PANEL, column = at / PANEL;
                elements[i] = {};
                if (at < count && k + step < present) elements[i] = from[(k + step) * along_k + column * across];
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int at = first + i * THREADS, step = at % PANEL, column = at / PANEL;
                if (at < count && step < last) panel[place(step, column)] = elements[i];
            }
        }
    }
};
