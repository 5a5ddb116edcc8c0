// A k-tile of one operand: where its elements are in shared memory, how they get there, and how a warp reads them.
#pragma once

#include "configuration.h"
#include "device/partial_copy.h"
#include "device/tensor_core.h"

constexpr int CHUNK = 16 / sizeof(Element);  // elements in 16 bytes: what is copied, and read by ldmatrix, at once
constexpr int STEP = 2 * CHUNK;              // depth of an mma.sync: 16 elements of f16 and bf16, 8 of tf32

/// SIDE rows of op(A), or columns of op(B), BLOCK_K deep. It is stored as in global memory: K_MAJOR has a line for each
/// row of op(A) or column of op(B), the other order a line for each k.
template <int SIDE, bool K_MAJOR>
struct Tile {
    static constexpr int LINES = K_MAJOR ? SIDE : BLOCK_K;
    static constexpr int CHUNKS = (K_MAJOR ? BLOCK_K : SIDE) / CHUNK;  // of a line, 16 bytes each
    static constexpr int ELEMENTS = LINES * CHUNKS * CHUNK;
    // ldmatrix does not transpose elements of 32 bits: lanes read them one by one.
    static constexpr bool BY_ELEMENT = !K_MAJOR && sizeof(Element) == 4;
    // The chunks of a line change places, within groups of SPAN, so that what a warp reads at a time lies in different
    // banks. For ldmatrix, which reads 8 lines, one chunk of each: by the number of the line in units of the lines that
    // fill a row of banks together. By element, 4 lines, two chunks of each: by pairs.
    static constexpr int SPAN = CHUNKS % 8 == 0 ? 8 : CHUNKS % 4 == 0 ? 4 : 2;
    static_assert(SPAN == 8 || (!BY_ELEMENT && (SPAN == 4 || CHUNKS == 2)), "other lengths have conflicts of banks");

    static __device__ __forceinline__ int place(int line, int chunk) {
        return (line * CHUNKS + (chunk ^ (BY_ELEMENT ? line % 4 * 2 : line / (8 / SPAN) % SPAN))) * CHUNK;
    }

    /// The k-step `step` of `side` .. side + 15, as mma.sync takes it: 8 of these rows or columns, and half of the
    /// k-step, in each of four registers. SIDE_FIRST: registers 0 and 1 are neighbours along the side, as A has them;
    /// else along K, as B does. Floats come as they are in memory.
    template <bool SIDE_FIRST, class T>
    static __device__ __forceinline__ void load(unsigned (&to)[4], const T* tile, int side, int step) {
        const int lane = threadIdx.x % 32;
        if constexpr (BY_ELEMENT) {
            // As place(), without divisions: NVRTC would keep an address of 64 bits for each element, and spill.
            const T* const line = tile + (STEP * step + lane % 4) * SIDE;
            const int first = (side + lane / 4) ^ (lane % 4 * 8), second = first ^ 8;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int side_half = SIDE_FIRST ? i % 2 : i / 2, k_half = SIDE_FIRST ? i / 2 : i % 2;
                to[i] = __float_as_uint(line[CHUNK * k_half * SIDE + (side_half ? second : first)]);
            }
        } else {
            const int r = lane % 8, low = lane / 8 % 2, high = lane / 16;
            const int side_half = SIDE_FIRST ? low : high, k_half = SIDE_FIRST ? high : low;
            const int line = K_MAJOR ? side + 8 * side_half + r : STEP * step + CHUNK * k_half + r;
            const int chunk = K_MAJOR ? 2 * step + k_half : side / CHUNK + side_half;
            load_matrices<!K_MAJOR>(to, tile + place(line, chunk));
        }
    }
};

/// Copies the k-tiles of an operand, one after another, into shared memory. Each thread has the same chunk of some
/// lines.
template <class Tile, bool K_MAJOR>
struct TileCopy {
    static constexpr int LINES_AT_ONCE = THREADS / Tile::CHUNKS;
    static constexpr int COUNT = Tile::LINES / LINES_AT_ONCE;
    static_assert(THREADS % Tile::CHUNKS == 0 && Tile::LINES % LINES_AT_ONCE == 0, "all threads copy equally much");

    const Element* from;  // the thread's first chunk
    long long stride;     // elements between lines
    int lines, elements;  // left in the matrix from the thread's first line and chunk on
    int line, chunk;

    /// `side` and `k` are the first of the tile; `sides` and K those of the matrix.
    __device__ __forceinline__ TileCopy(const Element* matrix, long long leading, int side, int sides, int k, int K)
        : stride(leading), line(threadIdx.x / Tile::CHUNKS), chunk(threadIdx.x % Tile::CHUNKS) {
        const int first_line = (K_MAJOR ? side : k) + line;
        const int first_element = (K_MAJOR ? k : side) + CHUNK * chunk;
        lines = (K_MAJOR ? sides : K) - first_line;
        elements = (K_MAJOR ? K : sides) - first_element;
        from = matrix + first_line * leading + first_element;
    }

    /// Whether copies of 16 bytes are possible.
    static __device__ __forceinline__ bool is_aligned(const Element* matrix, long long leading) {
        return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && leading % CHUNK == 0;
    }

    __device__ __forceinline__ void advance() {
        from += K_MAJOR ? BLOCK_K : BLOCK_K * stride;
        (K_MAJOR ? elements : lines) -= BLOCK_K;
    }

    /// Starts the copies of the present k-tile: BYTES at a time, 16 or, of floats, 4. Beyond the matrix there are
    /// zeros.
    template <int BYTES>
    __device__ __forceinline__ void start(Element* tile, const Element* anywhere) const {
        if constexpr (BYTES == 16) {
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                const int inside = i * LINES_AT_ONCE < lines ? max(0, min(CHUNK, elements)) : 0;
                copy_part_async(tile + Tile::place(line + i * LINES_AT_ONCE, chunk),
                                inside > 0 ? from + i * LINES_AT_ONCE * stride : anywhere,
                                inside * static_cast<int>(sizeof(Element)));
            }
        } else {
            for_each_element(tile, [&](Element* to, const Element* source, bool inside) {
                copy_async<BYTES>(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(source), inside);
            });
        }
    }

    /// The same at once.
    __device__ __forceinline__ void copy_elements(Element* tile) const {
        for_each_element(tile, [](Element* to, const Element* source, bool inside) {
            Element element{};
            if (inside) element = *source;
            *to = element;
        });
    }

private:
    /// Calls `copy` with the place of each of a thread's elements, its source and whether that is inside of the matrix.
    /// Neighbouring threads have neighbouring elements of a line.
    template <class Copy>
    __device__ __forceinline__ void for_each_element(Element* tile, const Copy& copy) const {
#pragma unroll 1
        for (int i = 0; i < COUNT; ++i) {
            const Element* const source = from + i * LINES_AT_ONCE * stride;
            const bool inside = i * LINES_AT_ONCE < lines;
#pragma unroll
            for (int j = 0; j < CHUNK; ++j) {
                const int element = j * Tile::CHUNKS + chunk;  // of the line
                const int distance = element - CHUNK * chunk;  // from the thread's first chunk
                Element* const to = tile + Tile::place(line + i * LINES_AT_ONCE, element / CHUNK) + element % CHUNK;
                copy(to, source + distance, inside && distance < elements);
            }
        }
    }
};
