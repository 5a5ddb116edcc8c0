// The end: C = alpha * sums + beta * C.
#pragma once

#include "device/half.h"
#include "gemm/wgmma_tiled/consumer.h"

/// Writes four matrices of 8 rows of 16 bytes to shared memory; lane 8 * i + r gives the address of row r of matrix i.
/// Register i of lane 4 * g + t has words t of row g of matrix i (PTX ISA, "stmatrix").
__device__ __forceinline__ void store_matrices(void* row, const unsigned (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

constexpr int CHUNK = 8;  // elements in 16 bytes

struct Output {
    const TensorMap& map;
    float alpha, beta;
    Element* C;
    long long ldc;
    int M, N;

    /// `row` is the warpgroup's first.
    __device__ __forceinline__ void write(Shared& shared, const Sums& sums, int row, int column) const {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        // The engine stores whole chunks of 16 bytes: more than the rows, if those end within one.
        const bool by_engine = rows_are_aligned(C, ldc) && N % CHUNK == 0;
        row += warp % 4 * 16;
        int turn = 0;
#pragma unroll
        for (int i = 0; i < ROWS / 64; ++i) {
#pragma unroll
            for (int strip = 0; strip < BLOCK_N / STRIP_COLUMNS; ++strip, turn ^= 1) {
                Element* const buffer = shared.strips[warp][turn];
                const int to_row = row + i * 64, to_column = column + strip * STRIP_COLUMNS;
                if (lane == 0) wait_for_stores<1>();  // the one before the last used this buffer
                __syncwarp();
                fill(buffer, sums.values[i] + strip * (STRIP_COLUMNS / 2), to_row, to_column);
                if (by_engine) {
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
            }
        }
    }

private:
    static constexpr int CHUNKS = STRIP_COLUMNS / CHUNK;  // of a row of a strip
    // Chunks change places as in the copy engine's swizzle.
    static __device__ __forceinline__ int place(int row, int chunk) {
        return row * STRIP_COLUMNS + (chunk ^ row / (8 / CHUNKS) % CHUNKS) * 8;
    }

    __device__ __forceinline__ unsigned pair(float low, float high, int row, int column) const {
        low *= alpha;
        high *= alpha;
        if (beta != 0 && row < M) {
            const Element* const old = C + row * ldc + column;
            if (column < N) low += beta * to_float(old[0]);
            if (column + 1 < N) high += beta * to_float(old[1]);
        }
        return from_float<Element>(low).bits | static_cast<unsigned>(from_float<Element>(high).bits) << 16;
    }

    __device__ __forceinline__ void fill(Element* buffer, const float* sums, int row, int column) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int j = 0; j < CHUNKS; j += 2) {
            unsigned words[4];
#pragma unroll
            for (int n = 0; n < 4; ++n) {  // rows g and g + 8, of columns 8 * j and 8 * (j + 1)
                const int at = 4 * (j + n / 2) + n % 2 * 2;
                words[n] = pair(sums[at], sums[at + 1], row + g + n % 2 * 8, column + 8 * (j + n / 2) + 2 * t);
            }
            store_matrices(buffer + place(lane % 16, j + lane / 16), words);
        }
    }

    __device__ __forceinline__ void store_elements(const Element* buffer, int row, int column) const {
        const int lane = threadIdx.x % 32;
#pragma unroll 1
        for (int at = lane; at < 16 * STRIP_COLUMNS; at += 32) {
            const int r = at / STRIP_COLUMNS, c = at % STRIP_COLUMNS;
            if (row + r < M && column + c < N) C[(row + r) * ldc + column + c] = buffer[place(r, c / 8) + c % 8];
        }
        __syncwarp();
    }
};
