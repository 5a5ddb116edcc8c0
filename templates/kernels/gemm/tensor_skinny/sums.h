// The epilogue of tensor_skinny: adds up the sums of slices and of the thread blocks that share a tile, and writes C.
// The order of the additions is fixed, so results repeat bit for bit.
#pragma once

#include "configuration.h"
#include "device/half.h"
#include "device/last_block.h"
#include "device/vector.h"
#include "gemm/tensor_skinny/large.h"
#include "gemm/tensor_skinny/small.h"

/// A lane's sums, in the order of multiply_add.
struct Sums {
    float of[FRAGMENTS_M][GROUPS][4];
};

// The elements of a tile are numbered line by line. If C is a vector, a tile is one line, and the elements of a column
// vector are ldc apart in C. Otherwise, a line is contiguous in C. Four neighbours of a line are a quad.
constexpr bool LINES_ALONG_ROWS = !NARROW_IS_B || COLUMNS == 1;
constexpr int LINE_LENGTH = LINES_ALONG_ROWS ? TILE : COLUMNS;
constexpr int QUADS = TILE * COLUMNS / 4;
// Several thread blocks may share a tile. One of them adds up the sums of all. If it has at least twice as many threads
// as quads, they form TEAMS teams, and each team adds up the sums of some of the thread blocks.
constexpr int TEAMS = THREADS >= 8 * QUADS ? 8 : THREADS >= 2 * QUADS ? THREADS / QUADS : 1;
static_assert(LINE_PITCH % 4 == 0 && LINE_PITCH >= LINE_LENGTH, "quads are aligned");

/// Writes a lane's sums to `shared`, which holds one slice's sums of the tile. `row` is the warp's first row in the
/// tile.
__device__ __forceinline__ void store_sums(float* shared, const Sums& sums, int row) {
#pragma unroll
    for (int i = 0; i < FRAGMENTS_M; ++i) {
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const int r = row + row_of(i, n / 2), c = 8 * group + threadIdx.x % 4 * 2 + n % 2;
                if (c < COLUMNS)
                    shared[LINES_ALONG_ROWS ? c * LINE_PITCH + r : r * LINE_PITCH + c] = sums.of[i][group][n];
            }
        }
    }
}

/// Calls `load(to, source)` for source = first, first + step, ... below `sources`. Each call gives four numbers, which
/// are added to `total`.
template <class Load>
__device__ __forceinline__ void add_up(float (&total)[4], int first, int step, int sources, const Load& load) {
    constexpr int AT_ONCE = 4;  // number of loads that are on their way at once
#pragma unroll 1
    for (int source = first; source < sources; source += AT_ONCE * step) {
        float values[AT_ONCE][4] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (source + i * step < sources) load(values[i], source + i * step);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (int n = 0; n < 4; ++n) total[n] += values[i][n];
        }
    }
}

/// Adds up the sums of the slices in shared memory, then those of the `splits` thread blocks that share the tile. The
/// thread block that arrives last calls `store(quad, total)` for each quad. `parts` is the tile's workspace, with
/// `splits` * 4 * QUADS + 4 floats.
template <class Store>
__device__ __forceinline__ void add_up_tile(float* shared, float* parts, int split, int splits, const Store& store) {
#pragma unroll 1
    for (int quad = threadIdx.x; quad < QUADS; quad += THREADS) {
        const float* const first = shared + 4 * quad / LINE_LENGTH * LINE_PITCH + 4 * quad % LINE_LENGTH;
        float total[4] = {};
#pragma unroll
        for (int slice = 0; slice < SLICES_K; ++slice) {
            float four[4];
            load_four(four, first + slice * SLICE_SUMS);
#pragma unroll
            for (int n = 0; n < 4; ++n) total[n] += four[n];
        }
        if (splits == 1) {
            store(quad, total);
        } else {
            store_four(parts + 4 * (split * QUADS + quad), total);
        }
    }
    if (splits == 1) return;
    if (!last_to_arrive(reinterpret_cast<unsigned*>(parts + 4 * splits * QUADS), splits)) return;
    const int team = TEAMS == 1 ? 0 : static_cast<int>(threadIdx.x) / QUADS;
#pragma unroll 1
    for (int quad = TEAMS == 1 ? threadIdx.x : threadIdx.x % QUADS; quad < QUADS; quad += THREADS) {
        float total[4] = {};
        add_up(total, team, TEAMS, team < TEAMS ? splits : 0,
               [&](float* to, int part) { load_four(to, parts + 4 * (part * QUADS + quad)); });
        if (TEAMS == 1) {
            store(quad, total);
        } else {
            store_four(shared + 4 * threadIdx.x, total);
        }
    }
    if (TEAMS == 1) return;
    __syncthreads();  // the totals of all teams are in shared memory
    if (threadIdx.x < QUADS) {
        float total[4] = {};
#pragma unroll
        for (int i = 0; i < TEAMS; ++i) {
            float four[4];
            load_four(four, shared + 4 * (i * QUADS + threadIdx.x));
#pragma unroll
            for (int n = 0; n < 4; ++n) total[n] += four[n];
        }
        store(threadIdx.x, total);
    }
}

/// C = alpha * total + beta * C for the first `count` of four elements. If `count` is zero or negative, nothing is
/// written. The elements are `step` apart in C. C is not read if beta is 0. If `aligned` is true and all four elements
/// exist, they are written at once.
__device__ __forceinline__ void write_quad(Element* to, long long step, const float (&total)[4], int count,
                                           bool aligned, float alpha, float beta) {
    struct alignas(8) Four {
        Element elements[4];
    };
    const auto result = [&](float sum, const Element& c) {
        return from_float<Element>(beta == 0 ? alpha * sum : alpha * sum + beta * to_float(c));
    };
    if (aligned && count >= 4) {
        Four four = {};
        if (beta != 0) four = *reinterpret_cast<const Four*>(to);
#pragma unroll
        for (int n = 0; n < 4; ++n) four.elements[n] = result(total[n], four.elements[n]);
        *reinterpret_cast<Four*>(to) = four;
    } else {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            if (n >= count) break;
            Element old{};
            if (beta != 0) old = to[n * step];
            to[n * step] = result(total[n], old);
        }
    }
}
