// The producer: the warpgroup that loads k-tiles into the stages.
#pragma once

#include "device/dependent_launch.h"
#include "gemm/wgmma_tiled/work.h"

/// One operand, op(A) or op(B). Its side is the extent other than K: the rows of op(A) or the columns of op(B). A tile
/// has SIDE rows or columns and BLOCK_K k-steps. If ALONG_SIDE is true, the operand is contiguous along its side,
/// otherwise along K. If PLANES is 2, each element is stored as two numbers (see wgmma_split_tiled.cu). The first
/// numbers of all elements are one plane, the second numbers are the other. The copy engine copies both planes. Along
/// K, 32 numbers of the first plane alternate with 32 of the second plane.
template <bool ALONG_SIDE, int SIDE, int PLANES = 1>
struct Operand {
    const TensorMap& map;
    const Element* matrix;
    long long leading;
    int sides, K;
    bool by_engine;  // whether the copy engine copies the operand; otherwise the producer's threads copy it

    static constexpr int BOXES = ALONG_SIDE ? SIDE / LINE : 1;
    static constexpr int BYTES = PLANES * SIDE * BLOCK_K * sizeof(Element);  // size of a tile in bytes
    static_assert(PLANES == 1 || !ALONG_SIDE, "planes are along K");

    /// Starts copies of the tile whose first row or column is `side` and first k-step is `k`. SHARERS blocks of the
    /// cluster need the same tile. Each of these blocks copies one part to all of them. This block copies part
    /// `part`. `blocks` is the bit mask of the SHARERS blocks' ranks.
    template <int SHARERS>
    __device__ __forceinline__ void start(Element* to, int side, int k, Barrier* full, int part, int blocks) const {
        if constexpr (ALONG_SIDE) {
            static_assert(BOXES % SHARERS == 0, "each block copies equally much");
#pragma unroll
            for (int i = 0; i < BOXES / SHARERS; ++i) {
                const int box = part * (BOXES / SHARERS) + i;
                copy<SHARERS>(to + box * LINE * BLOCK_K, side + box * LINE, k, full, blocks);
            }
        } else {
            const int first = part * (SIDE / SHARERS);
#pragma unroll
            for (int plane = 0; plane < PLANES; ++plane) {
                copy<SHARERS>(to + (plane * SIDE + first) * BLOCK_K, PLANES * k + plane * LINE, side + first, full,
                              blocks);
            }
        }
    }

    /// Copies the tile element by element, with the threads of this warpgroup.
    __device__ __forceinline__ void copy_elements(Element* to, int side, int k) const {
        constexpr int LINES = ALONG_SIDE ? BOXES * BLOCK_K : SIDE;
        const int chunk = threadIdx.x % 8;
#pragma unroll 1
        for (int line = threadIdx.x % WARPGROUP / 8; line < LINES; line += WARPGROUP / 8) {
            Chunk values = {};
            const int row = ALONG_SIDE ? k + line % BLOCK_K : side + line;
            const int column = (ALONG_SIDE ? side + line / BLOCK_K * LINE : k) + CHUNK * chunk;
            const Element* const from = matrix + row * leading + column;
            const int count = k >= 0 && row < (ALONG_SIDE ? K : sides) ? (ALONG_SIDE ? sides : K) - column : 0;
#pragma unroll
            for (int i = 0; i < CHUNK; ++i) {
                if (i < count) values.elements[i] = from[i];
            }
            *reinterpret_cast<Chunk*>(to + line * LINE + (chunk ^ line % 8) * CHUNK) = values;
        }
    }

private:
    template <int SHARERS>
    __device__ __forceinline__ void copy(Element* to, int column, int row, Barrier* full, int blocks) const {
        if constexpr (SHARERS > 1) {
            copy_tile_to(blocks, to, map, column, row, full);
        } else {
            copy_tile(to, map, column, row, full);
        }
    }
};

/// Returns a bit mask of `count` blocks of a cluster: those with ranks 0, stride, 2 * stride, ...
__device__ constexpr int blocks_of(int count, int stride) {
    int blocks = 0;
    for (int i = 0; i < count; ++i) blocks |= 1 << i * stride;
    return blocks;
}

/// Loads the k-tiles of one tile of C into the stages. If BY_ENGINE is true, the copy engine copies both operands, and
/// one thread calls this function. Otherwise all threads of the producer call it.
template <bool BY_ENGINE, class Shared, class A, class B>
__device__ __forceinline__ void produce(Shared& shared, Pipeline& pipeline, const A& a, const B& b, int row, int column,
                                        const Work& work) {
    const int rank = work.rank % SHARERS, rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M;
    const int first = CLUSTER_K == 1 ? 0 : work.rank - rank;  // lowest rank of the blocks with the same part of K
    constexpr int SAME_COLUMNS = blocks_of(CLUSTER_M, 1), SAME_ROWS = blocks_of(CLUSTER_N, CLUSTER_M);
    const bool starts = BY_ENGINE || threadIdx.x % WARPGROUP == 0;
    const bool engine_a = BY_ENGINE || a.by_engine, engine_b = BY_ENGINE || b.by_engine;
#pragma unroll 1
    for (int tile = 0; tile < work.k_tiles; ++tile, pipeline.advance()) {
        const int k = (work.first_k_tile + tile) * BLOCK_K;
        Barrier* const full = &shared.full[pipeline.stage];
        wait_for_phase(&shared.empty[pipeline.stage], pipeline.parity ^ 1);
        Element *const to_a = shared.a[pipeline.stage], *const to_b = shared.b[pipeline.stage];
        if (!engine_a) a.copy_elements(to_a, row, k);
        if (!engine_b) b.copy_elements(to_b, column, k);
        if (!engine_a || !engine_b) fence_shared();
        if (!starts) {
            arrive(full);
            continue;
        }
        arrive_and_expect(full, (engine_a ? A::BYTES : 0) + (engine_b ? B::BYTES : 0));
        if (engine_a) a.template start<CLUSTER_N>(to_a, row, k, full, rank_n, SAME_ROWS << first + rank_m);
        if (engine_b) {
            b.template start<CLUSTER_M>(to_b, column, k, full, rank_m, SAME_COLUMNS << first + rank_n * CLUSTER_M);
        }
    }
}

/// Loads the k-tiles of all tiles of C that this block computes. BY_ENGINE has the same meaning as in produce(), and
/// the same threads call both functions.
template <bool BY_ENGINE, class Shared, class A, class B>
__device__ __forceinline__ void produce_tiles(Shared& shared, const A& a, const B& b, const Work& work) {
    Pipeline pipeline;
    for (int tile = work.first; tile < work.tiles; tile += work.step) {
        const auto [row, column] = work.place(tile);
        wait_for_previous_kernel(min(row, column));
        produce<BY_ENGINE>(shared, pipeline, a, b, row, column, work);
    }
}

/// Does the producer's work. All its threads call this function.
template <class Shared, class A, class B>
__device__ __forceinline__ void produce_all(Shared& shared, const A& a, const B& b, const Work& work) {
    if (!a.by_engine || !b.by_engine) {
        produce_tiles<false>(shared, a, b, work);
    } else if (threadIdx.x % WARPGROUP == 0) {  // one thread starts all copies
        produce_tiles<true>(shared, a, b, work);
    }
}
