// matrix_vector: products of a matrix and a vector (M = 1 or N = 1). Memory bandwidth limits such products, so the
// kernel reads the matrix only once.
//
// No element of the matrix is used twice, so the matrix goes from global memory straight to registers, without shared
// memory and without barriers. Little's law says how many bytes must be on their way: bandwidth x latency. To read
// 4.2 TB/s with a latency of 0.8 us, 3.4 MB must be on their way at any time. On an H200, that is 26 KB for each of the
// 132 multiprocessors. A thread multiplies one chunk of the matrix per round. It keeps the loads of LOADS chunks on
// their way: after it has used a chunk, it loads the chunk that it needs LOADS rounds later.
//
// The elements of C are called outputs. A block computes a tile of TILE outputs. A thread computes partial sums of OWN
// outputs, over one of SLICES slices of K. The contents of a chunk depend on the layout:
//
//     matrix contiguous along K             4 k-steps of each of OWN outputs; threadIdx.x runs along K
//     matrix contiguous along the outputs   OWN outputs of one k-step; threadIdx.x runs along the outputs
//
// If the GPU has room for two or more blocks per tile and K is long enough, several blocks share each tile and divide K
// among them. The three dimensions of the grid are the tiles, the blocks that share a tile, and the vectors. Normally
// there is one vector. With several, the results are still right, but the kernel reads the matrix once for each vector.
#include "configuration.h"
#include "device/dependent_launch.h"
#include "device/shared.h"
#include "device/vector.h"
#include "gemm/split_sums.h"

static_assert(TILE % OWN == 0 && THREADS % ACROSS == 0, "whole threads tile a block");
static_assert(ALONG_K != 0 || OWN % 4 == 0, "a thread reads four neighbouring outputs at once");

/// The operands: one of A and B is the matrix, the other one is the vector. The matrix consists of lines, each of which
/// is contiguous in memory: `outputs` lines of K elements if ALONG_K, else K lines of `outputs` elements. Line i starts
/// at matrix + i * stride. Element k of the vector is vector[k * increment].
struct Operands {
    const Element* matrix;
    long long stride;
    const Element* vector;
    long long increment;
    int outputs;
    int K;

    /// Whether a thread can read four elements at once. Such reads must be aligned and stay inside of a line, and the
    /// vector must be contiguous.
    __device__ __forceinline__ bool aligned() const {
        if (increment != 1 || !rows_are_aligned(matrix, stride)) return false;
        return ALONG_K != 0 ? K % 4 == 0 && rows_are_aligned(vector, 0) : outputs % 4 == 0;
    }
};

/// Returns the index, in the tile, of a thread's i-th output. `across` is the thread's index along the outputs.
__device__ __forceinline__ int output_of(int across, int i) {
    return ALONG_K != 0 ? across + i * ACROSS : 4 * (across + i / 4 * ACROSS) + i % 4;
}

/// What a thread reads in one round: OWN outputs x DEPTH k-steps of the matrix, and DEPTH elements of the vector.
struct Chunk {
    Element matrix[OWN][DEPTH];
    Element vector[DEPTH];
};

constexpr int ROUND = SLICES * DEPTH;  // number of k-steps that all slices together read in one round

/// The place from which a thread reads its next chunk. Elements beyond the last k-step become zeros in the chunk.
template <bool ALIGNED>
struct Cursor {
    const Element* matrix[OWN];  // next element of each output; if a load reads 4 outputs, only [0], [4], ... are used
    const Element* vector;
    long long stride;     // distance in elements from one k-step to the next in the matrix
    long long increment;  // distance in elements from one k-step to the next in the vector
    int left;             // number of k-steps from the next chunk to the end of the block's part of K

    /// Places the cursor at k-step k. The block's part of K ends before k-step k + count.
    __device__ __forceinline__ Cursor(const Operands& from, int first_output, int across, long long k, int count)
        : vector(from.vector + k * from.increment),
          stride(ALONG_K != 0 ? 1 : from.stride),
          increment(ALIGNED ? 1 : from.increment),
          left(count) {
        constexpr int AT_ONCE = ALONG_K == 0 && ALIGNED ? 4 : 1;
        const long long line = ALONG_K != 0 ? from.stride : 1;
#pragma unroll
        for (int i = 0; i < OWN; ++i) {  // an index beyond the last output is replaced by an existing one
            const int output = min(first_output + output_of(across, i), from.outputs - AT_ONCE);
            matrix[i] = from.matrix + output * line + k * stride;
        }
    }

    __device__ __forceinline__ void read(Chunk& chunk) {
        chunk = {};
        if (ALIGNED && left > 0) {
            if (ALONG_K != 0) load_four(chunk.vector, vector);
            if (ALONG_K == 0) chunk.vector[0] = *vector;
#pragma unroll
            for (int i = 0; i < OWN; ++i) {
                if (ALONG_K != 0) load_four(chunk.matrix[i], matrix[i]);
                if (ALONG_K == 0 && i % 4 == 0) {
                    Element four[4];
                    load_four(four, matrix[i]);
#pragma unroll
                    for (int j = 0; j < 4 && i + j < OWN; ++j) chunk.matrix[i + j][0] = four[j];
                }
            }
        }
        if (!ALIGNED) {
#pragma unroll
            for (int d = 0; d < DEPTH; ++d) {
                if (d < left) {
                    chunk.vector[d] = vector[d * increment];
#pragma unroll
                    for (int i = 0; i < OWN; ++i) chunk.matrix[i][d] = matrix[i][d];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < OWN; ++i) matrix[i] += ROUND * stride;
        vector += ROUND * increment;
        left -= ROUND;
    }
};

/// Adds the products of a thread's chunks to its sums. The chunks begin at k-steps k, k + ROUND, k + 2 * ROUND, ...,
/// below k + count.
template <bool ALIGNED>
__device__ __forceinline__ void multiply(Element (&sums)[OWN], const Operands& from, int first_output, int across,
                                         long long k, int count) {
    Cursor<ALIGNED> cursor(from, first_output, across, k, count);
    Chunk chunks[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) cursor.read(chunks[i]);
#pragma unroll 1
    for (; count > 0; count -= LOADS * ROUND) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
#pragma unroll
            for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
                for (int j = 0; j < OWN; ++j) sums[j] += chunks[i].matrix[j][d] * chunks[i].vector[d];
            }
            cursor.read(chunks[i]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matrix_vector(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, long long ldb,
                  Element beta, Element* __restrict__ C, long long ldc, Element* workspace) {
    const int outputs = VECTOR_IS_B != 0 ? M : N;
    const int split = blockIdx.y;
    const int splits = gridDim.y;
    const int which = blockIdx.z;  // index of the vector; 0 if there is only one
    const int first_output = blockIdx.x * TILE;
    const Operands from =
        VECTOR_IS_B != 0 ? Operands{A, lda, B + which * (TRANSPOSE_B != 0 ? ldb : 1), TRANSPOSE_B != 0 ? 1 : ldb, M, K}
                         : Operands{B, ldb, A + which * (TRANSPOSE_A != 0 ? 1 : lda), TRANSPOSE_A != 0 ? lda : 1, N, K};
    const int across = ALONG_K != 0 ? threadIdx.x / SLICES : threadIdx.x % ACROSS;
    const int slice = ALONG_K != 0 ? threadIdx.x % SLICES : threadIdx.x / ACROSS;

    const int chunks = (K - 1) / DEPTH + 1;
    const long long first = begin_of_part(chunks, split, splits) * static_cast<long long>(DEPTH);
    const long long end =
        min(begin_of_part(chunks, split + 1, splits) * static_cast<long long>(DEPTH), static_cast<long long>(K));
    // If the block's part of K is so short that this slice has no k-steps, `count` is zero or negative.
    const int count = static_cast<int>(end - first) - slice * DEPTH;
    Element sums[OWN] = {};
    wait_for_previous_kernel(min(first_output, across));
    if (from.aligned()) {
        multiply<true>(sums, from, first_output, across, first + slice * DEPTH, count);
    } else {
        multiply<false>(sums, from, first_output, across, first + slice * DEPTH, count);
    }

    Element* const shared = dynamic_shared<Element>();
#pragma unroll
    for (int i = 0; i < OWN; ++i) shared[output_of(across, i) * SUMS_PITCH + slice] = sums[i];
    __syncthreads();  // the sums of all slices are in shared memory
    add_up_blocks<THREADS, TILE, SLICES>(
        shared + TILE * SUMS_PITCH, workspace, blockIdx.z * gridDim.x + blockIdx.x, split, splits,
        [&](int source, int output) { return shared[output * SUMS_PITCH + source]; },
        [&](int output, Element total) {
            const int place = first_output + output;
            if (place < outputs) {
                Element* const to = C + (VECTOR_IS_B != 0 ? place * ldc + which : which * ldc + place);
                *to = beta == 0 ? alpha * total : alpha * total + beta * *to;
            }
        });
}
