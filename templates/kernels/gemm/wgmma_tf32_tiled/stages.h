// The shared memory of a block. The manifest decides which of A and B is the left operand, and whether the right
// operand is copied to the workspace before the products.
#pragma once

#include "gemm/wgmma_tiled/work.h"

static_assert(sizeof(Element) == 4 && (PLANES == 1 || PLANES == 2), "floats, as one number of TF32 or as two");

struct alignas(1024) Shared {
    Element a[STAGES][BLOCK_M * BLOCK_K];           // k-tiles of the left operand
    Element b[STAGES][PLANES * BLOCK_N * BLOCK_K];  // k-tiles of the right operand: first plane, then second plane
    Barrier full[STAGES], empty[STAGES];
    int note;  // a value that one thread passes to all threads
};

__device__ __forceinline__ Shared& shared_of_block() {
    extern __shared__ unsigned char shared_memory[];
    const unsigned address = shared_address(shared_memory);
    return *reinterpret_cast<Shared*>(shared_memory + ((address + 1023) / 1024 * 1024 - address));
}

/// How many threads report that they are done with a stage (Consumer::leave).
constexpr int READERS = CONSUMERS * (SHARERS > 1 ? SHARERS : WARPGROUP);

/// The left or right operand of D = left * right. `sides` is the number of rows (left) or columns (right) of D;
/// `leading` is the leading dimension.
struct Matrix {
    const Element* elements;
    long long leading;
    int sides, K;
};
