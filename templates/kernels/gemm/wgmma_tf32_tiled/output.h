// The epilogue of the wgmma kernels of TF32: C = alpha * sums + beta * C. D is C or, in layout nn, the transpose of C
// (wgmma_tf32_tiled.cu).
#pragma once

#include "gemm/wgmma_tf32_tiled/consumer.h"

constexpr int GROUPS_OF_64 = BLOCK_N / 8;  // number of a thread's groups of four sums, for 64 rows of the tile

/// Writes C from registers. The lanes of a warp write at least 32 neighbouring bytes of each row of C at once.
struct Output {
    float alpha, beta;
    Element* C;
    long long ldc;
    int M, N;  // numbers of rows and columns of C
    Matrix left, right;
    bool adds = false;  // if true, C += alpha * sums, without beta: this thread has written the elements before

    /// Writes all sums of a thread. `row` and `column` are the first row and column of the block's tile of D. If an
    /// element that was split is infinite, or is rounded to infinity, sums with this element are NaN. Such sums are
    /// computed again without tensor cores.
    __device__ __forceinline__ void write(const Sums& sums, int row, int column) const {
        static_assert(BLOCKS_OF_64 * GROUPS_OF_64 <= 64, "a bit for each group");
        unsigned long long again = 0;
#pragma unroll
        for (int group = 0; group < BLOCKS_OF_64 * GROUPS_OF_64; ++group) {
            const float* const from = sums.values[group / GROUPS_OF_64] + group % GROUPS_OF_64 * 4;
            const float four[4] = {from[0], from[1], from[2], from[3]};
            if (PLANES == 2 && has_nan(four)) {
                again |= 1ULL << group;
            } else {
                write_four(place(group, row, column), four);
            }
        }
        while (PLANES == 2 && again != 0) {
            const int group = __ffsll(static_cast<long long>(again)) - 1;
            again &= again - 1;
            write_plain_sums(place(group, row, column));
        }
    }

    /// Writes four of a thread's sums. They come from Sums::values[i], elements 4 * j to 4 * j + 3, with
    /// i = group / GROUPS_OF_64 and j = group % GROUPS_OF_64. `row` and `column` are the first row and column of the
    /// block's tile of D.
    __device__ __forceinline__ void write_group(int group, int row, int column, const float (&sums)[4]) const {
        if (PLANES == 2 && has_nan(sums)) {
            write_plain_sums(place(group, row, column));
        } else {
            write_four(place(group, row, column), sums);
        }
    }

private:
    /// Row and column of D of the first of a thread's four sums. Sums 0 and 1 are neighbours in this row. Sums 2 and 3
    /// are in the same columns of the thread's second row.
    struct Place {
        int row, column;
    };
    static __device__ __forceinline__ Place place(int group, int row, int column) {
        return {row + static_cast<int>(threadIdx.x) / WARPGROUP * ROWS + group / GROUPS_OF_64 * 64 + row_of_thread(),
                column + group % GROUPS_OF_64 * 8 + static_cast<int>(threadIdx.x) % 4 * 2};
    }

    static __device__ __forceinline__ bool has_nan(const float (&sums)[4]) {
        const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);  // NaN if one of the four is NaN
        return sum != sum;
    }

    __device__ __forceinline__ void write_four(const Place& at, const float (&sums)[4]) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            if constexpr (TURNED) {
                write_two(at.column + i, at.row, sums[i], sums[i + 2]);
            } else {
                write_two(at.row + i * SECOND_ROW, at.column, sums[2 * i], sums[2 * i + 1]);
            }
        }
    }

    /// Writes two neighbours in a row of C.
    __device__ __forceinline__ void write_two(int row, int column, float low, float high) const {
        if (row >= M || column >= N) return;
        Element* const to = C + row * ldc + column;
        const bool both = column + 1 < N;
        low *= alpha;
        high *= alpha;
        if (RESTARTS && adds) {
            add_two(to, low, high, both);
            return;
        }
        if (beta != 0) {
            low += beta * to[0];
            if (both) high += beta * to[1];
        }
        if (both && reinterpret_cast<unsigned long long>(to) % 8 == 0) {
            *reinterpret_cast<float2*>(to) = make_float2(low, high);
        } else {
            to[0] = low;
            if (both) to[1] = high;
        }
    }

    /// Adds to two neighbours in a row of C. The L2 cache adds (PTX ISA, "red"), so the thread waits for no load.
    static __device__ __forceinline__ void add_two(Element* to, float low, float high, bool both) {
        if (both && reinterpret_cast<unsigned long long>(to) % 8 == 0) {
            asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(low), "f"(high) : "memory");
        } else {
            atomicAdd(to, low);
            if (both) atomicAdd(to + 1, high);
        }
    }

    /// Computes four sums again in FP32, product by product, and writes them. Instead of rows and columns beyond the
    /// matrix, the function reads the last row and column.
    __device__ __forceinline__ void write_plain_sums(const Place& at) const {
        const int row[2] = {min(at.row, left.sides - 1), min(at.row + SECOND_ROW, left.sides - 1)};
        const int column[2] = {min(at.column, right.sides - 1), min(at.column + 1, right.sides - 1)};
        float sums[4] = {};
#pragma unroll 1
        for (int k = 0; k < left.K; ++k) {
            float a[2], b[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                a[i] = left.elements[LEFT_ALONG_ROWS ? k * left.leading + row[i] : row[i] * left.leading + k];
                b[i] =
                    right.elements[RIGHT_ALONG_COLUMNS ? k * right.leading + column[i] : column[i] * right.leading + k];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[i] = fmaf(a[i / 2], b[i % 2], sums[i]);
        }
        write_four(at, sums);
    }
};
