// Writes results to C.
#pragma once

#include "device/compiler_hints.h"
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

    /// Whether write_simple may write this tile: C is not read, and all stores have 16 bytes. The threads of a block
    /// agree.
    __device__ __forceinline__ bool is_simple(const WorkTile& work) const {
        return beta == 0 && vectors && (N % 4 == 0 || work.column + BLOCK_N <= N);
    }

    /// C = accumulators, of this thread.
    __device__ __forceinline__ void write_simple(const WorkTile& work, const ThreadCoord& thread,
                                                 const Element (&accumulators)[ACCUMULATORS]) const {
        const int row = work.load_row + thread.row(0);
        const int column = work.load_column + thread.column(0);
        Element* const to = C + row * ldc + column;
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; i += 4) {
            const int r = FragmentA::element(0, i / THREAD_N);
            const int c = FragmentB::element(0, i % THREAD_N);
            const bool wanted = row + r >= work.row && row + r < M && column + c >= work.column && column + c < N;
            store_four_sums(to + r * ldc + c, &accumulators[i], beta, wanted);
        }
    }

    /// C = accumulators + beta * C, for any tile. All threads of the block call it. The way through shared memory needs
    /// one copy of the code that looks at beta and at the edges, where registers need one per accumulator. That halves
    /// the time of compiling.
    __device__ __forceinline__ void write_any(const WorkTile& work, const ThreadCoord& thread,
                                              const Element (&accumulators)[ACCUMULATORS], Element* shared) const {
        const int line_of_thread = thread.warp / WARPS_N * LANES_M + thread.lane_m;
        Element* const to = shared + line_of_thread * OUTPUT_STRIDE + thread.column(0);
#pragma unroll 1
        for (int first = 0; first < THREAD_M; first += OUTPUT_ROWS) {
            __syncthreads();  // no thread reads any more what stood here
            if (thread.slice == 0) {
#pragma unroll
                for (int i = 0; i < ACCUMULATORS; ++i) {
                    const int m = i / THREAD_N;
                    if (m / OUTPUT_ROWS * OUTPUT_ROWS != first) continue;
                    store_alone(
                        to + m % OUTPUT_ROWS * OUTPUT_LINES * OUTPUT_STRIDE + FragmentB::element(0, i % THREAD_N),
                        accumulators[i]);
                }
            }
            __syncthreads();  // the part is complete
            const int lines = min(OUTPUT_ROWS, THREAD_M - first) * OUTPUT_LINES;
#pragma unroll 1
            for (int line = threadIdx.x / 32; line < lines; line += THREADS / 32) {
                const int lane_row = line % OUTPUT_LINES;
                const int row =
                    lane_row / LANES_M * WARP_M + FragmentA::element(lane_row % LANES_M, first + line / OUTPUT_LINES);
                write_line(work, work.load_row + row, thread.lane, shared + line * OUTPUT_STRIDE);
            }
        }
    }

    /// C = line + beta * C for row r of C and the columns of the tile. All lanes of a warp call it.
    __device__ __forceinline__ void write_line(const WorkTile& work, int r, int lane, const Element* line) const {
        if (r < work.row || r >= M) return;
        const int first = work.load_column + lane;
        Element* const to = C + r * ldc + first;
        Element results[BLOCK_N / 32];
#pragma unroll
        for (int i = 0; i < BLOCK_N / 32; ++i) {
            const int c = first + 32 * i;
            results[i] = line[32 * i + lane];
            if (beta != 0 && c >= work.column && c < N) results[i] += beta * to[32 * i];
        }
#pragma unroll
        for (int i = 0; i < BLOCK_N / 32; ++i) {
            const int c = first + 32 * i;
            if (c >= work.column && c < N) to[32 * i] = results[i];
        }
    }

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
