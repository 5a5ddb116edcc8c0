// Adds up partial sums of several threads and several blocks. The order of the additions is fixed, so results repeat
// bit for bit.
#pragma once

#include "device/last_block.h"

/// Returns the index of the first item of part `part`, if items 0 .. total - 1 are divided into `parts` nearly equal
/// parts. A part ends where the next part begins.
__device__ __forceinline__ int begin_of_part(int total, int part, int parts) {
    return total / parts * part + min(part, total % parts);
}

/// For each of OUTPUTS outputs, adds up `load(source, output)` for source = 0 .. sources - 1 and passes the total to
/// `store(output, total)`. If there are at least two threads per output, the threads form groups, which divide the
/// sources among them. `scratch` has THREADS elements in shared memory.
template <int THREADS, int OUTPUTS, class Load, class Store>
__device__ __forceinline__ void add_up(Element* scratch, int sources, const Load& load, const Store& store) {
    constexpr int GROUPS = THREADS / OUTPUTS > 1 ? THREADS / OUTPUTS : 1;
    constexpr int AT_ONCE = 8;  // number of loads that are on their way at once
    const int group = threadIdx.x / OUTPUTS;
    if (GROUPS > 1 && group >= GROUPS) sources = 0;
    for (int output = GROUPS > 1 ? threadIdx.x % OUTPUTS : threadIdx.x; output < OUTPUTS; output += THREADS) {
        Element total = 0;
        for (int source = GROUPS > 1 ? group : 0; source < sources; source += AT_ONCE * GROUPS) {
            Element values[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                values[i] = source + i * GROUPS < sources ? load(source + i * GROUPS, output) : 0;
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) total += values[i];
        }
        if (GROUPS == 1) {
            store(output, total);
        } else {
            scratch[threadIdx.x] = total;
        }
    }
    if (GROUPS == 1) return;
    __syncthreads();  // the totals of all groups are in shared memory
    if (threadIdx.x < OUTPUTS) {
        Element total = 0;
#pragma unroll
        for (int i = 0; i < GROUPS; ++i) total += scratch[i * OUTPUTS + threadIdx.x];
        store(threadIdx.x, total);
    }
}

/// Adds up the sums of a block's SLICES slices: `load(slice, output)` returns the sum of one slice. Then adds up the
/// sums of the `splits` blocks that share a tile. The last of these blocks to arrive passes the totals to
/// `store(output, total)`. `workspace` has `splits` * OUTPUTS + 1 elements for each tile: the sums of the blocks and a
/// counter, which must be 0 before the launch. The workspace is used only if `splits` > 1.
template <int THREADS, int OUTPUTS, int SLICES, class Load, class Store>
__device__ __forceinline__ void add_up_blocks(Element* scratch, Element* workspace, int tile, int split, int splits,
                                              const Load& load, const Store& store) {
    if (splits == 1) {
        add_up<THREADS, OUTPUTS>(scratch, SLICES, load, store);
        return;
    }
    Element* const parts = workspace + static_cast<long long>(tile) * (splits * OUTPUTS + 1);
    add_up<THREADS, OUTPUTS>(scratch, SLICES, load,
                             [&](int output, Element total) { parts[split * OUTPUTS + output] = total; });
    if (!last_to_arrive(reinterpret_cast<unsigned*>(parts + splits * OUTPUTS), splits)) return;
    add_up<THREADS, OUTPUTS>(
        scratch, splits, [&](int part, int output) { return parts[part * OUTPUTS + output]; }, store);
}
