// The shared memory of a block: stages of k-tiles, their barriers, and strips of C.
#pragma once

#include "gemm/wgmma_tiled/work.h"

constexpr bool A_ALONG_M = TRANSPOSE_A != 0, B_ALONG_N = TRANSPOSE_B == 0;

struct alignas(1024) Shared {
    Element a[STAGES][BLOCK_M * BLOCK_K];
    Element b[STAGES][BLOCK_N * BLOCK_K];
    Element strips[CONSUMERS * 4][STRIP_BUFFERS][16 * STRIP_COLUMNS];  // strips of C, for each warp
    Barrier full[STAGES], empty[STAGES];
    int note;          // a value that one thread passes to all threads
    Barrier turns[2];  // only with PING_PONG: consumer c waits at turns[c] for its turn
};

__device__ __forceinline__ Shared& shared_of_block() {
    extern __shared__ unsigned char shared_memory[];
    const unsigned address = shared_address(shared_memory);
    return *reinterpret_cast<Shared*>(shared_memory + ((address + 1023) / 1024 * 1024 - address));
}
