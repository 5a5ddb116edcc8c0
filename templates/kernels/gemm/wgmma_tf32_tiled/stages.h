// What a block shares. The manifest says which operand is the left one, and which one is copied before the products.
#pragma once

#include "gemm/wgmma_tiled/work.h"

static_assert(sizeof(Element) == 4 && (PLANES == 1 || PLANES == 2), "floats, as one number of TF32 or as two");

struct alignas(1024) Shared {
    Element a[STAGES][BLOCK_M * BLOCK_K];           // of the left operand
    Element b[STAGES][PLANES * BLOCK_N * BLOCK_K];  // of the right one: the first plane, then the second one
    Barrier full[STAGES], empty[STAGES];
    int note;  // from one thread to all
};

__device__ __forceinline__ Shared& shared_of_block() {
    extern __shared__ unsigned char shared_memory[];
    const unsigned address = shared_address(shared_memory);
    return *reinterpret_cast<Shared*>(shared_memory + ((address + 1023) / 1024 * 1024 - address));
}

/// A matrix of D's product: `sides` rows or columns of D, and K.
struct Matrix {
    const Element* elements;
    long long leading;
    int sides, K;
};
