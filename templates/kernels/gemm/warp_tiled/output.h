// Writes results to C.
#pragma once

#include "device/vector.h"
#include "gemm/warp_tiled/thread_coord.h"
#include "gemm/warp_tiled/work_tile.h"

/// Where a thread's results go: accumulator i is that of row i / THREAD_N and column i % THREAD_N of the thread.
struct Output {
    Element* C;
    long long ldc;
    int M, N;
    Element beta;
    bool vectors;  // whether four neighbours may be written at once

    __device__ __forceinline__ Output(Element* C, long long ldc, int M, int N, Element beta, const WorkTile& work)
        : C(C), ldc(ldc), M(M), N(N), beta(beta), vectors(rows_are_aligned(C, ldc) && work.load_column % 4 == 0) {}

    /// C = four + beta * C for accumulators i .. i + 3. A tile that was loaded from further up or left computes
    /// elements that belong to its neighbours; those, and what lies outside of C, are not written.
    __device__ __forceinline__ void write(const WorkTile& work, const ThreadCoord& thread, int i,
                                          const Element* four) const {
        const int r = work.load_row + thread.row(i / THREAD_N);
        const int c = work.load_column + thread.column(i % THREAD_N);
        if (r < work.row || r >= M) return;
        Element* const to = C + r * ldc + c;
        Element results[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            results[j] = four[j];
            if (beta != 0 && c + j >= work.column && c + j < N) results[j] += beta * to[j];
        }
        if (vectors && c >= work.column && c + 4 <= N) {
            store_four(to, results);
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if (c + j >= work.column && c + j < N) to[j] = results[j];
            }
        }
    }
};
