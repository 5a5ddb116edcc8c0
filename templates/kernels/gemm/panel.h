// Tiles of an operand on their way into shared memory, for kernels with the constants THREADS, BLOCK_K and ASYNC.
#pragma once

#include "configuration.h"
#include "device/async_copy.h"
#include "device/shared.h"
#include "device/vector.h"

/// The tiles of one operand: BLOCK_K steps along K, each a run of EXTENT elements (rows of op(A) or columns of op(B)),
/// in shared memory one step after the other. In global memory either the elements of a run are neighbours, or
/// (ALONG_K) those of consecutive steps are; WIDTH neighbours are copied at once. Four along K go through registers,
/// since they part in shared memory, and everything does where there are no asynchronous copies.
template <int EXTENT, bool ALONG_K, int WIDTH>
struct Panel {
    static_assert(WIDTH == 1 || WIDTH == 4, "what an asynchronous copy offers");
    static constexpr bool HELD = ASYNC == 0 || (ALONG_K && WIDTH == 4);
    // What a warp writes at once mostly goes to different banks.
    static constexpr int STRIDE = EXTENT + (ALONG_K ? 4 : 0);
    static constexpr int SIZE = BLOCK_K * STRIDE;

    // In global memory a tile is LINES of LENGTH copies. SIDE_BY_SIDE threads share a line, with TOGETHER copies each
    // that need one pointer; the block covers AT_ONCE lines, over and over.
    static constexpr int LINES = ALONG_K ? EXTENT : BLOCK_K;
    static constexpr int LENGTH = (ALONG_K ? BLOCK_K : EXTENT) / WIDTH;
    static __device__ constexpr int min_of(int a, int b) { return a < b ? a : b; }
    static __device__ constexpr int side_by_side() {
        int threads = min_of((ALONG_K ? 8 : 32) / WIDTH, LENGTH);
        while (THREADS / threads > LINES && LENGTH % (2 * threads) == 0) threads *= 2;
        return threads;
    }
    static constexpr int SIDE_BY_SIDE = side_by_side();
    static constexpr int TOGETHER = LENGTH / SIDE_BY_SIDE;
    static_assert(LENGTH % SIDE_BY_SIDE == 0, "threads side by side share a line evenly");
    static constexpr int AT_ONCE = THREADS / SIDE_BY_SIDE;
    static constexpr int POINTERS = (LINES - 1) / AT_ONCE + 1;
    static constexpr int ROUNDS = POINTERS * TOGETHER;  // of one copy per thread
    static constexpr bool EVEN = LINES % AT_ONCE == 0 && THREADS % SIDE_BY_SIDE == 0;

    Element* to;                    // of the first copy, in the first stage
    const Element* from[POINTERS];  // BLOCK_K steps before the next tile
    Element held[HELD ? ROUNDS * WIDTH : 1];
    long long advance;  // from one step to the next

    /// Where a tile starts that should start at `wanted`: earlier, if the matrix ends too soon for copies without
    /// guards.
    static __device__ __forceinline__ int first(int wanted, int extent) {
        return ALONG_K ? wanted : max(min(wanted, extent - EXTENT), 0);
    }
    /// Whether tiles can be fetched from a matrix with `extent` runs, the block's first one at `first`.
    static __device__ __forceinline__ bool fits(const Element* matrix, long long stride, int K, int extent, int first) {
        return (ALONG_K || first + EXTENT <= extent) &&
               (WIDTH == 1 || (rows_are_aligned(matrix, stride) && (ALONG_K ? K : first) % WIDTH == 0));
    }

    /// `matrix` starts at the block's first run and step, and has `room` runs from there.
    __device__ __forceinline__ Panel(Element* shared, const Element* matrix, long long stride, int room)
        : to(kept(shared + (ALONG_K ? column() * WIDTH * STRIDE + line() : line() * STRIDE + column() * WIDTH))),
          held{},
          advance(ALONG_K ? 1 : stride) {
#pragma unroll
        for (int i = 0; i < POINTERS; ++i) {
            const int at = line() + i * AT_ONCE;
            from[i] = matrix + (ALONG_K ? min(at, room - 1) : at) * stride + column() * WIDTH;
        }
    }

    /// How far the next tile is, if there are `more`.
    __device__ __forceinline__ long long further(bool more) const { return more ? BLOCK_K * advance : 0; }
    /// Starts one round of the copy of the tile that is so much further. If there are no `more`, asynchronous copies
    /// read nothing, and others the last tile again.
    __device__ __forceinline__ void fetch(Element* target, int round, long long further, bool more) {
        if (round % TOGETHER == 0) from[round / TOGETHER] += further;
        copy(target, round, HELD || more);
    }
    /// Likewise of the first tile, of which only `steps` may exist: zeros follow.
    __device__ __forceinline__ void fetch_first(Element* target, int round, int steps) {
        const int along = round % TOGETHER * SIDE_BY_SIDE;
        copy(target, round, (ALONG_K ? (column() + along) * WIDTH : line() + round / TOGETHER * AT_ONCE) < steps);
        if (round % TOGETHER == TOGETHER - 1) from[round / TOGETHER] += (steps - BLOCK_K) * advance;
    }
    /// What went through registers arrives in shared memory.
    __device__ __forceinline__ void store(Element* target) {
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            if (!HELD || !takes_part(round)) continue;
            if (WIDTH == 4 && !ALONG_K) {
                store_four(target + place(round), &held[round * WIDTH]);
            } else {
#pragma unroll
                for (int i = 0; i < WIDTH; ++i) target[place(round) + i * STRIDE] = held[round * WIDTH + i];
            }
        }
    }

    /// Copies a tile of any matrix, of which `steps` and `room` exist, into the first stage.
    static __device__ __forceinline__ void copy_guarded(Element* shared, const Element* matrix, long long stride,
                                                        int steps, int room) {
#pragma unroll 1
        for (int i = threadIdx.x; i < BLOCK_K * EXTENT; i += THREADS) {
            const int step = ALONG_K ? i % BLOCK_K : i / EXTENT;
            const int element = ALONG_K ? i / BLOCK_K : i % EXTENT;
            const long long source = ALONG_K ? element * stride + step : step * stride + element;
            shared[step * STRIDE + element] = step < steps && element < room ? matrix[source] : 0;
        }
    }

private:
    __device__ __forceinline__ void copy(Element* target, int round, bool wanted) {
        if (!takes_part(round)) return;
        const Element* const source = from[round / TOGETHER] + round % TOGETHER * SIDE_BY_SIDE * WIDTH;
        if (!HELD) {
            copy_async<4 * WIDTH>(target + place(round), source, wanted);
        } else if (WIDTH == 4 && wanted) {
            load_four(&held[round * WIDTH], source);
        } else {
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) held[round * WIDTH + i] = wanted ? source[i] : 0;
        }
    }
    static __device__ __forceinline__ int line() { return threadIdx.x / SIDE_BY_SIDE; }
    static __device__ __forceinline__ int column() { return threadIdx.x % SIDE_BY_SIDE; }
    static __device__ __forceinline__ bool takes_part(int round) {
        return EVEN || (line() < AT_ONCE && line() + round / TOGETHER * AT_ONCE < LINES);
    }
    // In shared memory, from the first round's place.
    static __device__ constexpr int place(int round) {
        const int lines = round / TOGETHER * AT_ONCE;
        const int along = round % TOGETHER * SIDE_BY_SIDE * WIDTH;
        return ALONG_K ? along * STRIDE + lines : lines * STRIDE + along;
    }
};
