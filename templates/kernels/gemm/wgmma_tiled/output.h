// The epilogue of wgmma_tiled: C = alpha * sums + beta * C.
#pragma once

#include "device/half.h"
#include "gemm/wgmma_tiled/consumer.h"

/// Writes four matrices to shared memory, each with 8 rows of 16 bytes. `row` of lane 8 * i + r is the address of row r
/// of matrix i. from[i] of lane 4 * g + t is word t of row g of matrix i (PTX ISA, "stmatrix").
__device__ __forceinline__ void store_matrices(void* row, const unsigned (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

struct Output {
    const TensorMap& map;
    float alpha, beta;
    Element* C;
    long long ldc;
    int M, N;

    /// Writes a consumer's sums to C. `row` is the consumer's first row of C, `column` the block's first column.
    __device__ __forceinline__ void write(Shared& shared, const Sums& sums, int row, int column) const {
        // The copy engine stores whole chunks of 16 bytes. If a row ended within a chunk, the engine would write beyond
        // the row.
        const bool by_engine = engine_can_address(C, ldc) && N % CHUNK == 0;
        if (by_engine && beta == 0) {
            write_strips<true>(shared, sums, row, column, true);
        } else {
            write_strips<false>(shared, sums, row, column, by_engine);
        }
    }

    /// Writes four sums of a thread to C: values[i][4 * j] .. values[i][4 * j + 3] of Sums, with `group` = i * BLOCK_N
    /// / 8 + j. The first two sums are neighbours in a row of C. The other two sums are 8 rows below. `row` and
    /// `column` are the first row and column of the block's tile.
    __device__ __forceinline__ void write_group(int group, int row, int column, const float (&sums)[4]) const {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        row += warp / 4 * ROWS + group / (BLOCK_N / 8) * 64 + warp % 4 * 16 + lane / 4;
        column += group % (BLOCK_N / 8) * 8 + lane % 4 * 2;
        const bool in_pairs = column + 1 < N && reinterpret_cast<unsigned long long>(C) % 4 == 0 && ldc % 2 == 0;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int r = row + i * 8;
            if (r >= M || column >= N) continue;
            const unsigned both = pair<false>(sums[2 * i], sums[2 * i + 1], r, column);
            Element* const to = C + r * ldc + column;
            if (in_pairs) {
                *reinterpret_cast<unsigned*>(to) = both;
            } else {
                to[0].bits = static_cast<unsigned short>(both);
                if (column + 1 < N) to[1].bits = both >> 16;
            }
        }
    }

private:
    static constexpr int CHUNKS = STRIP_COLUMNS / CHUNK;  // number of chunks (16 bytes) in a row of a strip
    // Returns the index of a chunk's first element in a strip. A strip has the copy engine's swizzle.
    static __device__ __forceinline__ int place(int row, int chunk) {
        return row * STRIP_COLUMNS + (chunk ^ row / (8 / CHUNKS) % CHUNKS) * 8;
    }

    // If SIMPLE is true, beta is 0 and the copy engine stores the strips. This case has a shorter version of the code:
    // most instructions of an epilogue run only once, so fetching an instruction takes longer than executing it.
    template <bool SIMPLE>
    __device__ __forceinline__ void write_strips(Shared& shared, const Sums& sums, int row, int column,
                                                 bool by_engine) const {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        row += warp % 4 * 16;
        static_assert(STRIP_BUFFERS == 2 || STRIPS == 1 || CLUSTER_K * SPLIT_K > 1,
                      "a strip is stored while another is filled");
        int turn = 0;
#pragma unroll
        for (int i = 0; i < ROWS / 64; ++i) {
#pragma unroll
            for (int strip = 0; strip < BLOCK_N / STRIP_COLUMNS; ++strip) {
                Element* const buffer = shared.strips[warp][turn];
                const int to_row = row + i * 64, to_column = column + strip * STRIP_COLUMNS;
                if (lane == 0) {  // waits until the last store from `buffer` is done
                    if (STRIPS % 2 != 0 && i + strip == 0) {
                        wait_for_stores<0>();  // the previous tile's last store used `buffer`, too
                    } else {
                        wait_for_stores<1>();  // the last store from `buffer` was two strips ago
                    }
                }
                __syncwarp();
                fill<SIMPLE>(buffer, sums.values[i] + strip * (STRIP_COLUMNS / 2), to_row, to_column);
                if (SIMPLE || by_engine) {
                    fence_shared();
                    __syncwarp();
                    if (lane == 0) {
                        store_tile(map, to_column, to_row, buffer);
                        commit_stores();
                    }
                } else {
                    __syncwarp();
                    store_elements(buffer, to_row, to_column);
                }
                turn = (turn + 1) % STRIP_BUFFERS;
            }
        }
    }

    template <bool BETA_IS_0>
    __device__ __forceinline__ unsigned pair(float low, float high, int row, int column) const {
        low *= alpha;
        high *= alpha;
        if (!BETA_IS_0 && beta != 0 && row < M) {
            const Element* const old = C + row * ldc + column;
            if (column < N) low += beta * to_float(old[0]);
            if (column + 1 < N) high += beta * to_float(old[1]);
        }
        return two_from_float<Element>(low, high);
    }

    template <bool BETA_IS_0>
    __device__ __forceinline__ void fill(Element* buffer, const float* sums, int row, int column) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int j = 0; j < CHUNKS; j += 2) {
            unsigned words[4];
#pragma unroll
            for (int n = 0; n < 4; ++n) {  // chunk j: rows g and g + 8; then chunk j + 1: the same rows
                const int at = 4 * (j + n / 2) + n % 2 * 2;
                words[n] =
                    pair<BETA_IS_0>(sums[at], sums[at + 1], row + g + n % 2 * 8, column + 8 * (j + n / 2) + 2 * t);
            }
            store_matrices(buffer + place(lane % 16, j + lane / 16), words);
        }
    }

    // Stores a strip to C, two neighbouring elements at once, at multiples of 4 bytes. If a row of the strip does not
    // begin at such a multiple, the row's first element is stored alone.
    __device__ __forceinline__ void store_elements(const Element* buffer, int row, int column) const {
        constexpr int PAIRS = STRIP_COLUMNS / 2, ROWS_AT_ONCE = 32 / PAIRS;
        constexpr int AT_ONCE = ROWS * BLOCK_N / 128 > 128 ? 1 : 4;  // with more than 128 sums, registers allow only 1
        const int lane = threadIdx.x % 32, pair = lane % PAIRS * 2, end = min(N - column, STRIP_COLUMNS);
        int r = lane / PAIRS;
        Element* to = C + (row + r) * ldc + column;
#pragma unroll AT_ONCE  // the latencies of several rows overlap
        for (int i = 0; i < 16 / ROWS_AT_ONCE; ++i, r += ROWS_AT_ONCE, to += ROWS_AT_ONCE * ldc) {
            const int odd = reinterpret_cast<unsigned long long>(to) / sizeof(Element) % 2, c = pair + odd;
            const unsigned word = *reinterpret_cast<const unsigned*>(buffer + place(r, pair / CHUNK) + pair % CHUNK);
            const unsigned next = __shfl_down_sync(0xffffffffU, word, 1);
            const unsigned both = odd ? __funnelshift_r(word, next, 16) : word;
            const int columns = row + r < M ? end : 0;
            if (c + 1 < columns) *reinterpret_cast<unsigned*>(to + c) = both;
            if (c + 1 == columns) to[c].bits = static_cast<unsigned short>(both);
            if (c == 1 && columns > 0) to[0].bits = static_cast<unsigned short>(word);
        }
        __syncwarp();
    }
};
