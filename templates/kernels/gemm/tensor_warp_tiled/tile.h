// A k-tile of one operand: where its elements are in shared memory, how they get there, and how a warp reads them.
#pragma once

#include "configuration.h"
#include "device/partial_copy.h"
#include "device/tensor_core.h"

/// SIDE rows of op(A), or columns of op(B), by BLOCK_K k-steps. It is stored as in global memory: K_MAJOR has a line
/// for each row of op(A) or column of op(B), the other order a line for each k-step.
template <int SIDE, bool K_MAJOR>
struct Tile {
    static constexpr int LINES = K_MAJOR ? SIDE : BLOCK_K;
    static constexpr int CHUNKS = (K_MAJOR ? BLOCK_K : SIDE) / 8;  // of a line, 16 bytes each
    static constexpr int ELEMENTS = LINES * CHUNKS * 8;
    // 8 lines, one chunk of each, are what ldmatrix reads at a time. The chunks of a line change places so that these 8
    // lie in different banks: within groups of SPAN, by the number of the line in units of the lines that fill a row of
    // banks together.
    static constexpr int SPAN = CHUNKS % 8 == 0 ? 8 : CHUNKS % 4 == 0 ? 4 : 2;
    static_assert(CHUNKS % 4 == 0 || CHUNKS == 2, "other lengths have conflicts of banks");

    static __device__ __forceinline__ int place(int line, int chunk) {
        return (line * CHUNKS + (chunk ^ line / (8 / SPAN) % SPAN)) * 8;
    }

    /// Four matrices of 8 x 8: `side` .. side + 15 by k-step 16 * step .. 16 * step + 15, each 8 of them in a register.
    /// SIDE_FIRST: registers 0 and 1 are neighbours along the side, as A has them; else along K, as B does.
    template <bool SIDE_FIRST>
    static __device__ __forceinline__ void load(unsigned (&to)[4], const Element* tile, int side, int step) {
        const int lane = threadIdx.x % 32, r = lane % 8, low = lane / 8 % 2, high = lane / 16;
        const int side_half = SIDE_FIRST ? low : high, k_half = SIDE_FIRST ? high : low;
        const int line = K_MAJOR ? side + 8 * side_half + r : 16 * step + 8 * k_half + r;
        const int chunk = K_MAJOR ? 2 * step + k_half : side / 8 + side_half;
        load_matrices<!K_MAJOR>(to, tile + place(line, chunk));
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
        const int first_element = (K_MAJOR ? k : side) + 8 * chunk;
        lines = (K_MAJOR ? sides : K) - first_line;
        elements = (K_MAJOR ? K : sides) - first_element;
        from = matrix + first_line * leading + first_element;
    }

    /// Whether copies of 16 bytes are possible.
    static __device__ __forceinline__ bool is_aligned(const Element* matrix, long long leading) {
        return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && leading % 8 == 0;
    }

    __device__ __forceinline__ void advance() {
        from += K_MAJOR ? BLOCK_K : BLOCK_K * stride;
        (K_MAJOR ? elements : lines) -= BLOCK_K;
    }

    /// Starts the copies of the present k-tile. Beyond the matrix there are zeros.
    __device__ __forceinline__ void start(Element* tile, const Element* anywhere) const {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int inside = i * LINES_AT_ONCE < lines ? max(0, min(8, elements)) : 0;
            copy_part_async(tile + Tile::place(line + i * LINES_AT_ONCE, chunk),
                            inside > 0 ? from + i * LINES_AT_ONCE * stride : anywhere, 2 * inside);
        }
    }

    /// The same at once, element by element.
    __device__ __forceinline__ void copy_elements(Element* tile) const {
#pragma unroll 1
        for (int i = 0; i < COUNT; ++i) {
            Element* const to = tile + Tile::place(line + i * LINES_AT_ONCE, chunk);
            const Element* const source = from + i * LINES_AT_ONCE * stride;
            const bool inside = i * LINES_AT_ONCE < lines;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                Element element;
                element.bits = 0;
                if (inside && j < elements) element = source[j];
                to[j] = element;
            }
        }
    }
};
