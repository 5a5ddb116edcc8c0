// warp_tiled: blocks, warps and threads tiled, fed by a pipeline of asynchronous copies.
//
// A block computes BLOCK_M x BLOCK_N elements of C. Its warps divide them (and, SLICES_K > 1, the steps along K too);
// in a warp, LANES_M rows of threads own THREAD_M x THREAD_N elements each. For every step along K a thread reads
// THREAD_M + THREAD_N values from shared memory, 16 bytes at a time, and multiplies each of the ones with each of the
// others: at 8 x 16 that is 128 multiplications for 6 reads.
//
// On GPUs with 128 FP32 lanes per multiprocessor every issue slot that is not a multiplication is lost, so the loop
// holds little else: pointers that only advance, no guards (rows outside the matrix are read from its last row and
// their products are not stored), and the ragged end of K comes first, before the loop. Tiles arrive STAGES - 1 phases
// ahead; values arrive in registers one step ahead, across the barrier too. With VECTOR = 4 neighbours are copied 16
// bytes at a time; matrices that do not allow it get a slow loop of their own.
#include "configuration.h"
#include "device/async_copy.h"
#include "device/shared.h"
#include "device/vector.h"

constexpr int LANES_N = 32 / LANES_M;
constexpr int WARP_M = LANES_M * THREAD_M;
constexpr int WARP_N = LANES_N * THREAD_N;
constexpr int WARPS_N = BLOCK_N / WARP_N;
constexpr int WARPS_MN = BLOCK_M / WARP_M * WARPS_N;
constexpr int THREADS = 32 * WARPS_MN * SLICES_K;
constexpr int STEPS = BLOCK_K / SLICES_K;  // of a phase, for one warp
constexpr int SUMS = THREAD_M * THREAD_N;
static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "whole warps tile a block");
static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0, "reads are 16 bytes long");
static_assert(BLOCK_K % 8 == 0 && STEPS % 2 == 0, "registers are filled in turns");
static_assert(VECTOR == 1 || VECTOR == 4, "what an asynchronous copy offers");
static_assert(STAGES >= 2, "one tile is read while another is filled");

/// The tiles of one operand: BLOCK_K steps along K, each a run of EXTENT elements (rows of op(A) or columns of op(B)).
/// In global memory either the elements of a run are neighbours, or (ALONG_K) those of consecutive steps are; then each
/// element is copied by itself, and runs are padded, so that the eight steps a warp copies fall into different banks.
template <int EXTENT, bool ALONG_K>
struct Panel {
    static constexpr int STRIDE = EXTENT + (ALONG_K ? 4 : 0);
    static constexpr int SIZE = BLOCK_K * STRIDE;
    static constexpr int WIDTH = ALONG_K ? 1 : VECTOR;                      // elements per copy
    static constexpr int ACROSS = ALONG_K ? THREADS / 8 : THREADS * WIDTH;  // elements of runs that a round covers
    static constexpr int ROUNDS = (BLOCK_K * EXTENT - 1) / (THREADS * WIDTH) + 1;
    static constexpr bool EVEN = BLOCK_K * EXTENT % (THREADS * WIDTH) == 0;

    Element* shared;              // of the first stage
    const Element* from[ROUNDS];  // of the next tile
    Element held[ASYNC ? 1 : ROUNDS * WIDTH];
    long long advance;  // from one step to the next
    int room;           // elements of a run, from the block's first on, that the matrix has
    bool in_vectors;

    /// `matrix` starts at the block's first run.
    __device__ __forceinline__ Panel(Element* shared, const Element* matrix, long long stride, int room)
        : shared(shared),
          advance(ALONG_K ? 1 : stride),
          room(room),
          in_vectors(WIDTH == 1 || (room % WIDTH == 0 && rows_are_aligned(matrix, stride))) {
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const int element = min(element_of(round), room - (in_vectors ? WIDTH : 1));
            from[round] = matrix + element * (ALONG_K ? stride : 1) + step_of(round) * advance;
        }
    }

    /// Starts the copy of the next tile, of which the first `steps` exist, and moves on by so many; zeros after them.
    template <bool whole>
    __device__ __forceinline__ void fetch(int stage, int steps) {
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const bool wanted = whole || step_of(round) < steps;
            if (takes_part(round)) fetch_round(place(stage, round), round, wanted);
            from[round] += (whole ? BLOCK_K : steps) * advance;
        }
    }

    /// What went through registers arrives in shared memory.
    __device__ __forceinline__ void store(int stage) {
        if (ASYNC) return;
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            if (!takes_part(round)) continue;
            if (WIDTH == 4) {
                store_four(place(stage, round), &held[round * WIDTH]);
            } else {
                *place(stage, round) = held[round];
            }
        }
    }

private:
    // A round's place in the tile is the thread's place in the first round and, where it can be, a constant more.
    static __device__ __forceinline__ int step_of(int round) {
        const int first = ALONG_K ? threadIdx.x / 8 : threadIdx.x * WIDTH;
        const int run = EXTENT % ACROSS == 0   ? round * ACROSS / EXTENT
                        : ACROSS % EXTENT == 0 ? first / EXTENT + round * (ACROSS / EXTENT)
                                               : (first + round * ACROSS) / EXTENT;
        return ALONG_K ? run * 8 + threadIdx.x % 8 : run;
    }
    static __device__ __forceinline__ int element_of(int round) {
        const int first = ALONG_K ? threadIdx.x / 8 : threadIdx.x * WIDTH;
        return EXTENT % ACROSS == 0   ? first + round * ACROSS % EXTENT
               : ACROSS % EXTENT == 0 ? first % EXTENT
                                      : (first + round * ACROSS) % EXTENT;
    }
    static __device__ __forceinline__ bool takes_part(int round) { return EVEN || step_of(round) < BLOCK_K; }
    __device__ __forceinline__ Element* place(int stage, int round) {
        return shared + stage + step_of(round) * STRIDE + element_of(round);
    }

    __device__ __forceinline__ void fetch_round(Element* to, int round, bool wanted) {
        if (ASYNC && in_vectors) {
            copy_async<4 * WIDTH>(to, from[round], wanted);
        } else if (ASYNC) {
#pragma unroll 1  // a branch around it costs the others one issue slot
            for (int i = 0; i < WIDTH; ++i) {
                copy_async<4>(to + i, from[round] + i, wanted && element_of(round) + i < room);
            }
        } else if (WIDTH == 4 && in_vectors && wanted) {
            load_four(&held[round * WIDTH], from[round]);
        } else {
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                held[round * WIDTH + i] = wanted && (in_vectors || element_of(round) + i < room) ? from[round][i] : 0;
            }
        }
    }
};

using PanelA = Panel<BLOCK_M, TRANSPOSE_A == 0>;
using PanelB = Panel<BLOCK_N, TRANSPOSE_B != 0>;
constexpr int STAGE = PanelA::SIZE + PanelB::SIZE;

/// Adds up the warps' shares along K, in an order that never changes; the first slice holds the result.
__device__ __forceinline__ void add_slices(Element (&sums)[SUMS], Element* shared, int slice, int place) {
#pragma unroll
    for (int half = SLICES_K / 2; half > 0; half /= 2) {
        __syncthreads();  // nobody reads any more what stood here
        if (slice / half == 1) {
            Element* to = shared + (slice - half) * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) to[i * 32 * WARPS_MN] = sums[i];
        }
        __syncthreads();  // the sums of the upper half are there
        if (slice < half) {
            const Element* from = shared + slice * BLOCK_M * BLOCK_N + place;
#pragma unroll
            for (int i = 0; i < SUMS; ++i) sums[i] += from[i * 32 * WARPS_MN];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    warp_tiled(int M, int N, int K, Element alpha, const Element* __restrict__ A, long long lda,
               const Element* __restrict__ B, long long ldb, Element beta, Element* __restrict__ C, long long ldc,
               int GROUP_M) {
    Element* const shared = dynamic_shared<Element>();

    // Blocks go down GROUP_M rows of tiles before they turn to the next column: those that run together share more.
    const int tiles_m = (M - 1) / BLOCK_M + 1;
    const int tiles_n = (N - 1) / BLOCK_N + 1;
    const int group = blockIdx.x / (GROUP_M * tiles_n);
    const int in_group = blockIdx.x % (GROUP_M * tiles_n);
    const int height = min(GROUP_M, tiles_m - group * GROUP_M);
    const int first_row = (group * GROUP_M + in_group % height) * BLOCK_M;
    const int first_column = in_group / height * BLOCK_N;

    PanelA a_panel(shared, A + (TRANSPOSE_A ? first_row : first_row * lda), lda, M - first_row);
    PanelB b_panel(shared + PanelA::SIZE, B + (TRANSPOSE_B ? first_column * ldb : first_column), ldb, N - first_column);

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32 % WARPS_MN;
    const int slice = threadIdx.x / 32 / WARPS_MN;
    // Neighbouring lanes share values of B, and of A every other (LANE_PAIRS), or the lanes go row by row.
    const int lane_m = LANE_PAIRS ? lane / (2 * LANES_N) * 2 + lane % 2 : lane / LANES_N;
    const int lane_n = LANE_PAIRS ? lane / 2 % LANES_N : lane % LANES_N;
    const int row = warp / WARPS_N * WARP_M + lane_m * 4;  // of this thread's first four; the next are 4 * LANES_M on
    const int column = warp % WARPS_N * WARP_N + lane_n * 4;
    const Element* const a_first = shared + slice * STEPS * PanelA::STRIDE + row;
    const Element* const b_first = shared + PanelA::SIZE + slice * STEPS * PanelB::STRIDE + column;

    Element sums[SUMS] = {};
    Element a[2][THREAD_M];  // one step is multiplied while the next is read
    Element b[2][THREAD_N];
    const auto read = [&](int stage, int step, int turn) {
#pragma unroll
        for (int m = 0; m < THREAD_M; m += 4)
            load_four(&a[turn][m], a_first + stage + step * PanelA::STRIDE + m * LANES_M);
#pragma unroll
        for (int n = 0; n < THREAD_N; n += 4)
            load_four(&b[turn][n], b_first + stage + step * PanelB::STRIDE + n * LANES_N);
    };

    const auto multiply = [&](int turn) {
#pragma unroll
        for (int n = 0; n < THREAD_N; ++n) {
#pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {  // to and fro: one factor stays when the other changes
                const int m = n % 2 ? THREAD_M - 1 - i : i;
                sums[m * THREAD_N + n] += a[turn][m] * b[turn][n];
            }
        }
    };

    {
        // The ragged phase comes first: every later one is whole.
        const int phases = (K - 1) / BLOCK_K + 1;
        const int ragged = K - (phases - 1) * BLOCK_K;
        a_panel.template fetch<false>(0, ragged);
        b_panel.template fetch<false>(0, ragged);
        a_panel.store(0);
        b_panel.store(0);
        commit_copies();
#pragma unroll
        for (int ahead = 1; ahead < STAGES - 1; ++ahead) {
            if (ahead < phases) {
                a_panel.template fetch<true>(ahead * STAGE, BLOCK_K);
                b_panel.template fetch<true>(ahead * STAGE, BLOCK_K);
                a_panel.store(ahead * STAGE);
                b_panel.store(ahead * STAGE);
            }
            commit_copies();
        }
        wait_for_copies<STAGES - 2>();
        __syncthreads();  // the first tile is complete
        read(0, 0, 0);
        int reading = 0;  // where the stages start
        int filling = (STAGES - 1) * STAGE;
#pragma unroll 1
        for (int phase = 0; phase < phases; ++phase) {
            const bool more = phase + STAGES - 1 < phases;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                if (step == 0) {
                    if (more) {
                        a_panel.template fetch<true>(filling, BLOCK_K);
                        b_panel.template fetch<true>(filling, BLOCK_K);
                    }
                    commit_copies();
                }
                if (step == STEPS - 1) {
                    if (more) {
                        a_panel.store(filling);
                        b_panel.store(filling);
                    }
                    filling = reading;
                    reading = reading == (STAGES - 1) * STAGE ? 0 : reading + STAGE;
                    wait_for_copies<STAGES - 2>();
                    __syncthreads();  // the next tile is complete; and nobody reads this one any more
                }
                read(reading, (step + 1) % STEPS, (step + 1) % 2);
                multiply(step % 2);
            }
        }
        wait_for_copies<0>();
    }

    if (SLICES_K > 1) {
        add_slices(sums, shared, slice, warp * 32 + lane);
        if (slice > 0) return;
    }
    const bool vectors = rows_are_aligned(C, ldc);
#pragma unroll
    for (int m = 0; m < THREAD_M; ++m) {
        const int r = first_row + row + m / 4 * 4 * LANES_M + m % 4;
#pragma unroll
        for (int n = 0; n < THREAD_N; n += 4) {
            const int c = first_column + column + n * LANES_N;
            if (r >= M || c >= N) continue;
            Element* to = C + r * ldc + c;
            Element four[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                four[i] = alpha * sums[m * THREAD_N + n + i];
                if (beta != 0 && c + i < N) four[i] += beta * to[i];
            }
            if (vectors && c + 4 <= N) {
                store_four(to, four);
            } else {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if (c + i < N) to[i] = four[i];
                }
            }
        }
    }
}
