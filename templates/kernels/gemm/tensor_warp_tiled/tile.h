// A k-tile of one operand: where its elements are in shared memory, how threads copy them there, and how a warp reads
// them.
#pragma once

#include "configuration.h"
#include "device/partial_copy.h"
#include "device/tensor_core.h"

constexpr int CHUNK = 16 / sizeof(Element);  // number of elements of a 16-byte copy, and of a row of ldmatrix
constexpr int STEP = 2 * CHUNK;              // depth of an mma.sync along K: 16 elements of f16 or bf16, 8 of tf32

/// A k-tile of one operand in shared memory: SIDE rows of op(A) or columns of op(B), with BLOCK_K elements along K. A
/// line is contiguous in global memory. In shared memory, its chunks are permuted. If K_MAJOR, a line is a row of op(A)
/// or a column of op(B). Otherwise a line has the elements with the same k.
template <int SIDE, bool K_MAJOR>
struct Tile {
    static constexpr int LINES = K_MAJOR ? SIDE : BLOCK_K;
    static constexpr int CHUNKS = (K_MAJOR ? BLOCK_K : SIDE) / CHUNK;  // number of 16-byte chunks per line
    static constexpr int ELEMENTS = LINES * CHUNKS * CHUNK;
    // ldmatrix cannot transpose elements of 32 bits, so lanes read such elements one by one.
    static constexpr bool BY_ELEMENT = !K_MAJOR && sizeof(Element) == 4;
    // The chunks of a line are permuted within groups of SPAN, so that a warp reads from different banks (XOR swizzle).
    // ldmatrix reads one chunk from each of 8 lines. 8 / SPAN lines fill all banks once, so every 8 / SPAN lines the
    // permutation changes. If lanes read BY_ELEMENT, a warp reads two chunks from each of 4 lines. So pairs of chunks
    // are permuted.
    static constexpr int SPAN = CHUNKS % 8 == 0 ? 8 : CHUNKS % 4 == 0 ? 4 : 2;
    static_assert(SPAN == 8 || (!BY_ELEMENT && (SPAN == 4 || CHUNKS == 2)), "other lengths have conflicts of banks");

    static __device__ __forceinline__ int place(int line, int chunk) {
        return (line * CHUNKS + (chunk ^ (BY_ELEMENT ? line % 4 * 2 : line / (8 / SPAN) % SPAN))) * CHUNK;
    }

    /// Loads the fragments of k-step `step` of rows (or columns) side .. side + 15. Each of the four registers has 8 of
    /// these rows and one half of the k-step. If SIDE_FIRST, registers 0 and 1 have different rows, as
    /// mma.sync needs for A. Otherwise registers 0 and 1 have different halves of the k-step, as mma.sync needs for B.
    /// Floats are not rounded to TF32.
    template <bool SIDE_FIRST, class T>
    static __device__ __forceinline__ void load(unsigned (&to)[4], const T* tile, int side, int step) {
        const int lane = threadIdx.x % 32;
        if constexpr (BY_ELEMENT) {
            // Computes the same addresses as place(), but without divisions. With place(), NVRTC keeps a 64-bit address
            // for each element, and spills.
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

/// Copies the k-tiles of an operand to shared memory, one after another. A thread copies one chunk (16 bytes) of each
/// of COUNT lines: the chunk with index `chunk` in its line.
template <class Tile, bool K_MAJOR>
struct TileCopy {
    static constexpr int LINES_AT_ONCE = THREADS / Tile::CHUNKS;
    static constexpr int COUNT = Tile::LINES / LINES_AT_ONCE;
    static_assert(THREADS % Tile::CHUNKS == 0 && Tile::LINES % LINES_AT_ONCE == 0, "all threads copy equally much");

    const Element* from;  // the thread's first chunk of the present k-tile
    long long stride;     // distance between lines, in elements
    int lines, elements;  // from `from` to the edges of the matrix: number of lines; number of elements of a line
    int line, chunk;

    /// `side` is the tile's first row of op(A) or column of op(B), and `k` its first index along K. `sides` and `K` are
    /// the extents of the matrix.
    __device__ __forceinline__ TileCopy(const Element* matrix, long long leading, int side, int sides, int k, int K)
        : stride(leading), line(threadIdx.x / Tile::CHUNKS), chunk(threadIdx.x % Tile::CHUNKS) {
        const int first_line = (K_MAJOR ? side : k) + line;
        const int first_element = (K_MAJOR ? k : side) + CHUNK * chunk;
        lines = (K_MAJOR ? sides : K) - first_line;
        elements = (K_MAJOR ? K : sides) - first_element;
        from = matrix + first_line * leading + first_element;
    }

    /// Whether all rows of the matrix start at multiples of 16 bytes, so that copies of 16 bytes are possible.
    static __device__ __forceinline__ bool is_aligned(const Element* matrix, long long leading) {
        return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && leading % CHUNK == 0;
    }

    __device__ __forceinline__ void advance() {
        from += K_MAJOR ? BLOCK_K : BLOCK_K * stride;
        (K_MAJOR ? elements : lines) -= BLOCK_K;
    }

    /// Starts the asynchronous copies of the present k-tile, BYTES bytes each: 16, or 4 for floats in rows that are
    /// not aligned to 16 bytes. Elements beyond the matrix become zeros. `anywhere` is an address in the matrix for
    /// copies that read nothing.
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

    /// Copies the present k-tile without asynchronous copies, element by element.
    __device__ __forceinline__ void copy_elements(Element* tile) const {
        for_each_element(tile, [](Element* to, const Element* source, bool inside) {
            Element element{};
            if (inside) element = *source;
            *to = element;
        });
    }

private:
    /// Calls copy(to, source, inside) for each element that this thread copies. `inside` says whether the source is
    /// inside of the matrix. Neighbouring threads have neighbouring elements of a line.
    template <class Copy>
    __device__ __forceinline__ void for_each_element(Element* tile, const Copy& copy) const {
#pragma unroll 1
        for (int i = 0; i < COUNT; ++i) {
            const Element* const source = from + i * LINES_AT_ONCE * stride;
            const bool inside = i * LINES_AT_ONCE < lines;
#pragma unroll
            for (int j = 0; j < CHUNK; ++j) {
                const int element = j * Tile::CHUNKS + chunk;  // index of the element in its line
                const int distance = element - CHUNK * chunk;  // distance, in elements, from the thread's first chunk
                Element* const to = tile + Tile::place(line + i * LINES_AT_ONCE, element / CHUNK) + element % CHUNK;
                copy(to, source + distance, inside && distance < elements);
            }
        }
    }
};
