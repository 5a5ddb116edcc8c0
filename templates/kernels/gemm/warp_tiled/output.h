// Writes the results of a block to C.
#pragma once

#include "device/compiler_hints.h"
#include "device/vector.h"
#include "gemm/warp_tiled/thread_coord.h"
#include "gemm/warp_tiled/work_tile.h"

/// Writes a thread's results to C. Accumulator i belongs to row i / THREAD_N and column i % THREAD_N of the thread's
/// THREAD_M x THREAD_N elements. At an edge of C, load_origin() may move the block's tile up or left, so that the block
/// computes elements of neighbouring tiles again. Such elements, and elements outside of C, are not written.
struct Output {
    Element* C;
    long long ldc;
    int M, N;
    Element beta;
    bool vectors;  // whether the tile's rows in C are aligned for stores of four elements (16 bytes)

    __device__ __forceinline__ Output(Element* C, long long ldc, int M, int N, Element beta, const WorkTile& work)
        : C(C), ldc(ldc), M(M), N(N), beta(beta), vectors(rows_are_aligned(C, ldc) && work.load_column % 4 == 0) {}

    /// Whether write_simple can write this tile: C need not be read, because beta is 0, and all stores have 16 bytes.
    /// The result is the same for all threads of a block.
    __device__ __forceinline__ bool is_simple(const WorkTile& work) const {
        return beta == 0 && vectors && (N % 4 == 0 || work.column + BLOCK_N <= N);
    }

    /// C = accumulators, for this thread's elements.
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

    /// C = accumulators + beta * C, for any tile. All threads of the block must call it. The results pass through
    /// shared memory, so that one loop handles beta and the edges. Otherwise, the compiler would repeat that code for
    /// each accumulator, which would double the compile time.
    __device__ __forceinline__ void write_any(const WorkTile& work, const ThreadCoord& thread,
                                              const Element (&accumulators)[ACCUMULATORS], Element* shared) const {
        const int line_of_thread = thread.warp / WARPS_N * LANES_M + thread.lane_m;
        Element* const to = shared + line_of_thread * OUTPUT_STRIDE + thread.column(0);
#pragma unroll 1
        for (int first = 0; first < THREAD_M; first += OUTPUT_ROWS) {
            __syncthreads();  // no thread reads the previous contents of shared memory any more
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
            __syncthreads();  // the results of OUTPUT_ROWS rows of each thread are in shared memory
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

    /// Writes one row of the tile: C = line + beta * C in row r of C. `line` has the tile's BLOCK_N sums of that row,
    /// in shared memory. All lanes of a warp must call it.
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

    /// C = four + beta * C for the elements of accumulators i .. i + 3.
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
