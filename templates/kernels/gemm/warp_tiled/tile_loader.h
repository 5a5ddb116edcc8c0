// Copies k-tiles of A and B from global to shared memory. There are two loaders, for two layouts of an operand in
// global memory:
//
//     MnMajorLoader: the operand is contiguous along M or N. The loader copies rows as they are.
//     KMajorLoader:  the operand is contiguous along K. The loader transposes it.
//
//     layout    A               B
//     nn        KMajorLoader    MnMajorLoader
//     nt        KMajorLoader    KMajorLoader
//     tn        MnMajorLoader   MnMajorLoader
//     tt        MnMajorLoader   KMajorLoader
//
// Both loaders write the same layout to shared memory. A stage has first A, then B. Each of them has BLOCK_K rows, one
// per k-step. A row has EXTENT elements: one for each row of op(A), or for each column of op(B). The rows start STRIDE
// elements apart:
//
//                 <------- BLOCK_M -------><- padding ->                <-------- BLOCK_N --------><- padding ->
//     k-step 0    a[0] a[1] ... a[BLOCK_M-1]    .  .     k-step 0       b[0] b[1] ... b[BLOCK_N-1]    .  .
//     k-step 1    a[0] a[1] ... a[BLOCK_M-1]    .  .     k-step 1       b[0] b[1] ... b[BLOCK_N-1]    .  .
//     ...         <------------ STRIDE_A ----------->    ...            <------------ STRIDE_B ------------>
//
//     element (k, m) of A: stage * STAGE_ELEMENTS + k * STRIDE_A + m
//     element (k, n) of B: stage * STAGE_ELEMENTS + OFFSET_B + k * STRIDE_B + n
//
// The rows that a KMajorLoader writes have 4 elements of padding. With the padding, the transposed elements that a warp
// writes at once lie mostly in different banks. The rows that an MnMajorLoader writes have no padding.
//
// Both loaders have the same interface, so the main loop is the same for all layouts:
//
//     loader.first_copy(stage, i, steps)      starts copy i of k-tile 0. This k-tile has only `steps` k-steps; the rest
//                                             of the stage is filled with zeros
//     loader.advance(more)                    returns the distance to the next k-tile in global memory, in elements;
//                                             0 if no k-tile follows (`more` is false)
//     loader.copy(stage, i, advance, more)    starts copy i of the next k-tile. If no k-tile follows, an asynchronous
//                                             copy reads nothing and writes zeros, and a copy through registers reads
//                                             the last k-tile again
//     loader.store(stage)                     writes the values of copies through registers to shared memory
//
// Copies are asynchronous and go straight to shared memory, with two exceptions (THROUGH_REGISTERS). If ASYNC = 0, for
// hardware without asynchronous copies, all copies go through registers. Copies of four neighbours along K always go
// through registers, because the four go to different rows of shared memory.
#pragma once

#include "device/async_copy.h"
#include "device/compiler_hints.h"
#include "device/vector.h"
#include "gemm/warp_tiled/copy_partition.h"

/// Starts a copy of WIDTH neighbouring elements: asynchronously to `to` in shared memory, or into the registers `held`.
/// If the copy is not `wanted`, it reads nothing and writes zeros.
template <bool THROUGH_REGISTERS, int WIDTH>
__device__ __forceinline__ void start_copy(Element* to, Element* held, const Element* from, bool wanted) {
    if (!THROUGH_REGISTERS) {
        copy_async<4 * WIDTH>(to, from, wanted);
    } else if (WIDTH == 4 && wanted) {
        load_four(held, from);
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) held[i] = wanted ? from[i] : 0;
    }
}

/// Copies an operand that is contiguous along M or N: element (k, x) is matrix[k * stride + x]. Each copy moves WIDTH
/// neighbours along M or N, which are neighbours in shared memory, too. A line of the CopyPartition is a k-step.
template <int EXTENT, int STRIDE, int WIDTH>
struct MnMajorLoader {
    static_assert(WIDTH == 1 || WIDTH == 4, "asynchronous copies are of 4 or 16 bytes");
    using Partition = CopyPartition<BLOCK_K, EXTENT / WIDTH, 32 / WIDTH>;
    static constexpr int COPIES = Partition::COPIES;
    static constexpr bool THROUGH_REGISTERS = ASYNC == 0;

    Element* to;  // destination of copy 0 in stage 0
    /// The source address of this thread in each pass. At first it is in k-tile 0. After first_copy it is always
    /// BLOCK_K k-steps before the k-tile that is copied next.
    const Element* from[Partition::PASSES];
    Element held[THROUGH_REGISTERS ? COPIES * WIDTH : 1];
    long long k_stride;  // distance in elements from one k-step to the next in global memory

    /// Returns the first row or column to load for a tile that starts at `wanted`. If the tile would reach beyond the
    /// matrix, it is moved up or left until it ends at the edge, so that no copy needs a guard. But it never starts
    /// before row or column 0.
    static __device__ __forceinline__ int load_origin(int wanted, int extent) {
        return max(min(wanted, extent - EXTENT), 0);
    }
    /// Whether the tile that is loaded from `origin` lies inside the matrix, which has `extent` rows or columns, and
    /// can be copied WIDTH elements at a time.
    static __device__ __forceinline__ bool fits(const Element* matrix, long long stride, int, int extent, int origin) {
        return origin + EXTENT <= extent && (WIDTH == 1 || (rows_are_aligned(matrix, stride) && origin % WIDTH == 0));
    }

    /// `matrix` points to the tile's first element at the block's first k-step.
    __device__ __forceinline__ MnMajorLoader(Element* shared, const Element* matrix, long long stride, int)
        : to(pin_register(shared + (Partition::first_line() * STRIDE + Partition::lane() * WIDTH))),
          held{},
          k_stride(stride) {
#pragma unroll
        for (int pass = 0; pass < Partition::PASSES; ++pass) {
            const int step = Partition::first_line() + pass * Partition::LINES_PER_PASS;
            from[pass] = matrix + step * stride + Partition::lane() * WIDTH;
        }
    }

    __device__ __forceinline__ long long advance(bool more) const { return more ? BLOCK_K * k_stride : 0; }

    __device__ __forceinline__ void copy(Element* stage, int i, long long advance, bool more) {
        if (i % Partition::COPIES_PER_LINE == 0) from[i / Partition::COPIES_PER_LINE] += advance;
        start(stage, i, THROUGH_REGISTERS || more);
    }
    __device__ __forceinline__ void first_copy(Element* stage, int i, int steps) {
        start(stage, i, Partition::first_line() + Partition::line_offset(i) < steps);
        if (i % Partition::COPIES_PER_LINE == Partition::COPIES_PER_LINE - 1) {
            from[i / Partition::COPIES_PER_LINE] += (steps - BLOCK_K) * k_stride;
        }
    }
    __device__ __forceinline__ void store(Element* stage) {
#pragma unroll
        for (int i = 0; i < COPIES; ++i) {
            if (!THROUGH_REGISTERS || !Partition::has(i)) continue;
            if (WIDTH == 4) {
                store_four(stage + offset(i), &held[i * WIDTH]);
            } else {
                stage[offset(i)] = held[i];
            }
        }
    }

    /// Copies one k-tile of any matrix into stage 0. Only `steps` k-steps of the k-tile, with `room` elements each, lie
    /// inside of the matrix. All other elements of the stage become zeros.
    static __device__ __forceinline__ void copy_guarded(Element* shared, const Element* matrix, long long stride,
                                                        int steps, int room) {
#pragma unroll 1
        for (int i = threadIdx.x; i < BLOCK_K * EXTENT; i += THREADS) {
            const int step = i / EXTENT;
            const int x = i % EXTENT;
            const long long source = step * stride + x;
            shared[step * STRIDE + x] = step < steps && x < room ? matrix[source] : 0;
        }
    }

private:
    __device__ __forceinline__ void start(Element* stage, int i, bool wanted) {
        if (!Partition::has(i)) return;
        const Element* const source = from[i / Partition::COPIES_PER_LINE] + Partition::lane_offset(i) * WIDTH;
        start_copy<THROUGH_REGISTERS, WIDTH>(stage + offset(i), THROUGH_REGISTERS ? &held[i * WIDTH] : nullptr, source,
                                             wanted);
    }
    static __device__ constexpr int offset(int i) {
        return Partition::line_offset(i) * STRIDE + Partition::lane_offset(i) * WIDTH;
    }
};

/// Copies an operand that is contiguous along K: element (k, x) is matrix[x * stride + k]. Each copy moves WIDTH
/// neighbours along K. The neighbours go to different rows of shared memory, because they belong to different k-steps.
/// A line of the CopyPartition is a row of op(A) or a column of op(B).
template <int EXTENT, int STRIDE, int WIDTH>
struct KMajorLoader {
    static_assert(WIDTH == 1 || WIDTH == 4, "asynchronous copies are of 4 or 16 bytes");
    using Partition = CopyPartition<EXTENT, BLOCK_K / WIDTH, 8 / WIDTH>;
    static constexpr int COPIES = Partition::COPIES;
    static constexpr bool THROUGH_REGISTERS = ASYNC == 0 || WIDTH == 4;

    Element* to;  // destination of copy 0 in stage 0
    /// The source address of this thread in each pass. At first it is in k-tile 0. After first_copy it is always
    /// BLOCK_K k-steps before the k-tile that is copied next.
    const Element* from[Partition::PASSES];
    Element held[THROUGH_REGISTERS ? COPIES * WIDTH : 1];
    long long k_stride;  // distance in elements from one k-step to the next in global memory

    /// Returns `wanted`. A tile at the edge of the matrix need not be moved, because the constructor repeats the last
    /// row of op(A) or column of op(B).
    static __device__ __forceinline__ int load_origin(int wanted, int) { return wanted; }
    static __device__ __forceinline__ bool fits(const Element* matrix, long long stride, int K, int, int) {
        return WIDTH == 1 || (rows_are_aligned(matrix, stride) && K % WIDTH == 0);
    }

    /// `matrix` points to the tile's first row of op(A) (or column of op(B)) at the block's first k-step. From there to
    /// the edge, the matrix has `room` rows. Instead of rows beyond the edge, the last row is copied again, so that no
    /// copy needs a guard.
    __device__ __forceinline__ KMajorLoader(Element* shared, const Element* matrix, long long stride, int room)
        : to(pin_register(shared + (Partition::lane() * WIDTH * STRIDE + Partition::first_line()))),
          held{},
          k_stride(1) {
#pragma unroll
        for (int pass = 0; pass < Partition::PASSES; ++pass) {
            const int line = Partition::first_line() + pass * Partition::LINES_PER_PASS;
            from[pass] = matrix + min(line, room - 1) * stride + Partition::lane() * WIDTH;
        }
    }

    __device__ __forceinline__ long long advance(bool more) const { return more ? BLOCK_K * k_stride : 0; }

    __device__ __forceinline__ void copy(Element* stage, int i, long long advance, bool more) {
        if (i % Partition::COPIES_PER_LINE == 0) from[i / Partition::COPIES_PER_LINE] += advance;
        start(stage, i, THROUGH_REGISTERS || more);
    }
    __device__ __forceinline__ void first_copy(Element* stage, int i, int steps) {
        start(stage, i, (Partition::lane() + Partition::lane_offset(i)) * WIDTH < steps);
        if (i % Partition::COPIES_PER_LINE == Partition::COPIES_PER_LINE - 1) {
            from[i / Partition::COPIES_PER_LINE] += (steps - BLOCK_K) * k_stride;
        }
    }
    __device__ __forceinline__ void store(Element* stage) {
#pragma unroll
        for (int i = 0; i < COPIES; ++i) {
            if (!THROUGH_REGISTERS || !Partition::has(i)) continue;
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) stage[offset(i) + j * STRIDE] = held[i * WIDTH + j];
        }
    }

    /// Copies one k-tile of any matrix into stage 0, with the same arguments as MnMajorLoader::copy_guarded.
    static __device__ __forceinline__ void copy_guarded(Element* shared, const Element* matrix, long long stride,
                                                        int steps, int room) {
#pragma unroll 1
        for (int i = threadIdx.x; i < BLOCK_K * EXTENT; i += THREADS) {
            const int step = i % BLOCK_K;
            const int x = i / BLOCK_K;
            const long long source = x * stride + step;
            shared[step * STRIDE + x] = step < steps && x < room ? matrix[source] : 0;
        }
    }

private:
    __device__ __forceinline__ void start(Element* stage, int i, bool wanted) {
        if (!Partition::has(i)) return;
        const Element* const source = from[i / Partition::COPIES_PER_LINE] + Partition::lane_offset(i) * WIDTH;
        start_copy<THROUGH_REGISTERS, WIDTH>(stage + offset(i), THROUGH_REGISTERS ? &held[i * WIDTH] : nullptr, source,
                                             wanted);
    }
    static __device__ constexpr int offset(int i) {
        return Partition::lane_offset(i) * WIDTH * STRIDE + Partition::line_offset(i);
    }
};

template <bool CONDITION, class True, class False>
struct Choose {
    using Type = True;
};
template <class True, class False>
struct Choose<false, True, False> {
    using Type = False;
};
using LoaderA = Choose<TRANSPOSE_A != 0, MnMajorLoader<BLOCK_M, STRIDE_A, VECTOR_A>,
                       KMajorLoader<BLOCK_M, STRIDE_A, VECTOR_A>>::Type;
using LoaderB = Choose<TRANSPOSE_B != 0, KMajorLoader<BLOCK_N, STRIDE_B, VECTOR_B>,
                       MnMajorLoader<BLOCK_N, STRIDE_B, VECTOR_B>>::Type;
