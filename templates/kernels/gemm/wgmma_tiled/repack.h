// The copy engine can load tiles of a matrix only if its rows begin at multiples of 16 bytes. This file copies an
// operand whose rows begin elsewhere to the workspace. The rows of the copy begin at multiples of 16 bytes. All blocks
// of the grid share this work (tasks.h).
//
// For any matrix, the engine can load a range of bytes whose start and end are multiples of 16. So it loads each piece
// of a row to shared memory, with the bytes around the piece. The threads then shift the piece and write it to the
// workspace:
//
//     matrix            ...|..aabbcc|ddeeffgg|hhiijj..|...        | multiples of 16 bytes
//     shared memory        |..aabbcc|ddeeffgg|hhiijj..|           the stages, which are not used before the products
//     workspace            |aabbccdd|eeffgghh|iijj....|
//
// If the threads loaded the pieces themselves, too few loads would be in flight, because the stages leave little room
// for the L1 cache.
#pragma once

#include "gemm/wgmma_tiled/tasks.h"

constexpr int UNIT = 64;  // number of chunks in a unit; starting a smaller load would take longer than the load itself

/// A matrix and the place of its copy. The rows of the copy are packed and have a whole number of chunks (16 bytes). A
/// unit of work is UNIT chunks of a row, or fewer at the end of the row. One warp copies it. Elements of the copy
/// beyond the end of a row have no defined value, and nothing reads them.
struct Repacked {
    const Element* matrix;
    long long leading;
    int rows, columns;
    Chunk* copy;

    __device__ __forceinline__ int chunks() const { return (columns + CHUNK - 1) / CHUNK; }
    __device__ __forceinline__ int segments() const { return (chunks() + UNIT - 1) / UNIT; }
    __device__ __forceinline__ int units() const { return rows * segments(); }
    /// Returns the size of the copy in bytes, rounded up to a multiple of 128.
    __device__ __forceinline__ long long bytes() const { return (16LL * rows * chunks() + 127) / 128 * 128; }
};

/// Returns the size of the part of the stages that each warp may use before the products, in bytes.
template <class Shared>
__device__ constexpr int bytes_of_warp() {
    return (sizeof(Shared::a) + sizeof(Shared::b)) / WARPS / 128 * 128;
}
/// Returns the address of the part of the stages that this warp may use before the products.
template <class Shared>
__device__ __forceinline__ unsigned char* stages_of_warp(Shared& shared) {
    return reinterpret_cast<unsigned char*>(&shared) + threadIdx.x / 32 * bytes_of_warp<Shared>();
}

/// Returns 16 bytes of the 32 bytes (`low`, `high`), from byte `bytes` (0 to 15) on.
__device__ __forceinline__ uint4 chunk_between(const uint4& low, const uint4& high, unsigned bytes) {
    const unsigned bits = bytes % 4 * 8;
    unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 6; ++i) words[i] = bytes & 8 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = bytes & 4 ? words[i + 1] : words[i];
    return make_uint4(__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
                      __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
}

/// Copies `count` units with one warp: first, first + stride, first + 2 * stride, ... All of them must exist.
template <class Shared>
__device__ __forceinline__ void copy_units(Shared& shared, const Repacked& from, int first, int stride, int count) {
    constexpr int ROOM = (UNIT + 1) * 16;  // bytes of a unit in shared memory, with the bytes around it
    constexpr int MOST = (bytes_of_warp<Shared>() - 16) / ROOM, AT_ONCE = MOST < 31 ? MOST : 31;
    static_assert(AT_ONCE > 0, "room for a unit of each warp");
    Barrier* const loaded = reinterpret_cast<Barrier*>(stages_of_warp(shared));
    unsigned char* const units = stages_of_warp(shared) + 16;
    const int lane = threadIdx.x % 32, segments = from.segments();
    if (lane == 0) {
        init_barrier(loaded, 1);
        fence_barriers();
    }
    int parity = 0;
#pragma unroll 1
    for (int done = 0; done < count; done += AT_ONCE, parity ^= 1) {
        const int now = min(AT_ONCE, count - done);
        // Lane i + 1 starts the load of unit i of this round. Lane 0 starts none, because it alone reads the first
        // bytes of a unit. If it also started the load, the tool racecheck would report a hazard that does not exist.
        const int own = (lane + 31) % 32, unit = first + (done + min(own, now - 1)) * stride;
        const int row = unit / segments, segment = unit % segments;
        const int elements = min(from.columns - segment * UNIT * CHUNK, UNIT * CHUNK);
        const auto begin =
            reinterpret_cast<unsigned long long>(from.matrix + row * from.leading + segment * UNIT * CHUNK);
        const auto end = begin + elements * sizeof(Element);
        const unsigned bytes = static_cast<unsigned>((end + 15) / 16 * 16 - begin / 16 * 16);
        const auto to = reinterpret_cast<unsigned long long>(from.copy + static_cast<long long>(row) * from.chunks() +
                                                             segment * UNIT);
        const int chunks_and_shift = (elements + CHUNK - 1) / CHUNK * 16 + static_cast<int>(begin % 16);
        const unsigned all_bytes = __reduce_add_sync(0xffffffffU, own < now ? bytes : 0);
        if (lane == 0) arrive_and_expect(loaded, static_cast<int>(all_bytes));
        __syncwarp();
        if (own < now) copy_bytes_once(units + own * ROOM, begin / 16 * 16, bytes, loaded);
        wait_for_phase(loaded, parity);
#pragma unroll 1
        for (int i = 0; i < now; ++i) {
            const int other = __shfl_sync(0xffffffffU, chunks_and_shift, i + 1);
            auto* const to_unit = reinterpret_cast<uint4*>(__shfl_sync(0xffffffffU, to, i + 1));
#pragma unroll
            for (int part = 0; part < UNIT; part += 32) {
                const int chunk = min(part + lane, other / 16 - 1);  // several lanes may write the last chunk of a row
                const auto* const at = reinterpret_cast<const uint4*>(units + i * ROOM) + chunk;
                to_unit[chunk] = chunk_between(at[0], at[1], other % 16);
            }
        }
        __syncwarp();  // all lanes have read the units
    }
    if (lane == 0) end_barrier(loaded);
    fence_shared();  // the copy engine will write k-tiles to this part of shared memory
}

/// Copies both matrices to the workspace. The caller passes 0 units for a matrix that the copy engine can address, and
/// that matrix is not copied. On return, the engine may read the copies.
template <class Shared>
__device__ __forceinline__ void repack(Shared& shared, const Repacked& a, int units_a, const Repacked& b, int units_b,
                                       RepackCounters* counters) {
    const int units = units_a + units_b;
    if (units == 0) return;
    // In a task, each warp copies at most 32 units: first units of `a`, then units of `b`. The number of units in a
    // task is chosen so that all blocks can do about equally many tasks.
    const int units_of_warp = share_of_warp(units, 32);
    const int tasks = (units - 1) / (units_of_warp * WARPS) + 1;
    do_tasks(shared.note, tasks, counters, [&](int task) {
        int first = task * units_of_warp * WARPS + static_cast<int>(threadIdx.x) / 32, left = units_of_warp;
#pragma unroll 1
        for (int matrix = 0; matrix < 2; ++matrix) {
            const int all = matrix == 0 ? units_a : units_b;
            const int count = max(0, min(left, (all - first + WARPS - 1) / WARPS));
            const Repacked from = matrix == 0 ? a : b;  // by value, so that both operands stay in registers
            if (count > 0) copy_units(shared, from, first, WARPS, count);
            first += count * WARPS - all;
            left -= count;
        }
    });
}
