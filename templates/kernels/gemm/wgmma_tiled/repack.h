// The copy engine can read a matrix only if its rows begin at multiples of 16 bytes. This file copies other operands to
// the workspace, where their rows begin at such multiples. All blocks of the grid share this work (tasks.h).
#pragma once

#include "gemm/wgmma_tiled/tasks.h"

/// A matrix and the place of its copy. The rows of the copy are packed and have a whole number of chunks (16 bytes). A
/// unit of work is 32 chunks of a row, copied by one warp.
struct Repacked {
    const Element* matrix;
    long long leading;
    int rows, columns;
    Chunk* copy;

    __device__ __forceinline__ int chunks() const { return (columns + CHUNK - 1) / CHUNK; }
    __device__ __forceinline__ int segments() const { return (chunks() + 31) / 32; }
    __device__ __forceinline__ int units() const { return rows * segments(); }
    /// Returns the size of the copy in bytes, rounded up to a multiple of 128.
    __device__ __forceinline__ long long bytes() const { return (16LL * rows * chunks() + 127) / 128 * 128; }

    /// A lane's chunk of a unit, and the chunk's place in the copy. Lanes beyond the end of a row copy the row's last
    /// chunk again. This avoids branches, so loads of several units can be under way at once. Elements of the copy
    /// beyond the end of a row have no defined value, and nothing reads them.
    struct Place {
        const Element* from;
        int last;  // index of the chunk's last element that is in the matrix
        Chunk* to;
    };
    __device__ __forceinline__ Place place(int unit) const {
        const int row = unit / segments(), chunk = min(unit % segments() * 32 + threadIdx.x % 32, chunks() - 1);
        return {matrix + row * leading + chunk * CHUNK, min(columns - chunk * CHUNK, CHUNK) - 1,
                copy + static_cast<long long>(row) * chunks() + chunk};
    }
};

/// Loads the two aligned groups of 16 bytes that contain a chunk. The groups also contain bytes around the chunk.
__device__ __forceinline__ void load_around(const Repacked::Place& place, uint4& low, uint4& high) {
    low = *reinterpret_cast<const uint4*>(reinterpret_cast<unsigned long long>(place.from) / 16 * 16);
    high = *reinterpret_cast<const uint4*>(reinterpret_cast<unsigned long long>(place.from + place.last) / 16 * 16);
}

__device__ __forceinline__ uint4 chunk_between(const uint4& low, const uint4& high, const Element* from) {
    const unsigned bytes = reinterpret_cast<unsigned long long>(from) % 16, bits = bytes % 4 * 8;
    unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 6; ++i) words[i] = bytes & 8 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = bytes & 4 ? words[i + 1] : words[i];
    return make_uint4(__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
                      __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
}

constexpr int UNITS_AT_ONCE = THREADS > 384 ? 4 : 8;  // number of units that a warp loads at once, limited by registers

/// Copies `count` units with one warp: first, first + stride, first + 2 * stride, ... Units 0 .. units_a - 1 are those
/// of `a`; units units_a .. units - 1 are those of `b`. Instead of a unit beyond the last one, the last unit is
/// copied again.
__device__ __forceinline__ void copy_units(const Repacked& a, int units_a, const Repacked& b, int units, int first,
                                           int stride, int count) {
#pragma unroll 1
    for (int i = 0; i < count; i += UNITS_AT_ONCE) {
        Repacked::Place places[UNITS_AT_ONCE];
        uint4 low[UNITS_AT_ONCE], high[UNITS_AT_ONCE];
#pragma unroll
        for (int j = 0; j < UNITS_AT_ONCE; ++j) {
            const int unit = min(first + min(i + j, count - 1) * stride, units - 1);
            const Repacked from = unit < units_a ? a : b;
            places[j] = from.place(unit < units_a ? unit : unit - units_a);
            load_around(places[j], low[j], high[j]);
        }
#pragma unroll
        for (int j = 0; j < UNITS_AT_ONCE; ++j) {
            *reinterpret_cast<uint4*>(places[j].to) = chunk_between(low[j], high[j], places[j].from);
        }
    }
}

/// Copies both matrices to the workspace. The caller passes 0 units for a matrix that the copy engine can address, and
/// that matrix is not copied. On return, the engine may read the copies. `note` is in shared memory.
__device__ __forceinline__ void repack(int& note, const Repacked& a, int units_a, const Repacked& b, int units_b,
                                       RepackCounters* counters) {
    const int units = units_a + units_b;
    if (units == 0) return;
    // Each block gets the same number of tasks. In a task, each warp copies at most 32 units.
    const int units_of_warp = share_of_warp(units, 32);
    const int tasks = (units - 1) / (units_of_warp * WARPS) + 1;
    do_tasks(note, tasks, counters, [&](int task) {
        copy_units(a, units_a, b, units, task * units_of_warp * WARPS + threadIdx.x / 32, WARPS, units_of_warp);
    });
}
