// Compile-time checks of the sizes of warp_tiled's tiles. `configuration.h` defines these sizes: the manifest's
// parameters (BLOCK_M, THREAD_N, ...) and the constants that the manifest derives from them (WARP_M, THREADS, STRIDE_A,
// ...). In README.md beside this file, "One configuration, worked through" shows all sizes of an example.
#pragma once

#include "configuration.h"
#include "device/cluster.h"

static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "whole warps tile a block");
static_assert(THREADS == 32 * SLICE_WARPS * SLICES_K, "the warps of each slice of K tile the block");
static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0, "a thread reads its values by 16 bytes");
static_assert(BLOCK_K % 8 == 0 && SLICE_STEPS % 2 == 0, "two fragment buffers take turns");
static_assert(STAGES >= 2, "one stage is read while another is filled");
static_assert((SLICES_K & (SLICES_K - 1)) == 0 && BLOCK_K % SLICES_K == 0, "slices are added by halves");
static_assert(CLUSTER_K <= MOST_BLOCKS_OF_A_CLUSTER, "compute capability 9.0 added clusters");
static_assert(CLUSTER_K <= TILE_COUNTERS, "each block of a cluster has a counter");
static_assert(sizeof(Element) == sizeof(unsigned), "counters take the place of elements");
