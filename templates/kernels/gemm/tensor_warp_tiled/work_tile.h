// Determines which tile of C a block computes, over which part of K, and which part of the tile belongs to each warp.
#pragma once

#include "configuration.h"

struct WorkTile {
    int tile, part;             // index of the block's tile of C; index of its part of K
    int row, column, k;         // first row and column of the tile; first index along K of the part
    int k_tiles;                // number of k-tiles of the part
    int warp_row, warp_column;  // first row and column of the warp's part of the tile, relative to the tile

    __device__ __forceinline__ WorkTile(int M, int N, int K, int group_m) {
        const int tiles_m = (M - 1) / BLOCK_M + 1, tiles_n = (N - 1) / BLOCK_N + 1, tiles = tiles_m * tiles_n;
        part = blockIdx.x / tiles;
        tile = blockIdx.x % tiles;
        const int group = tile / (group_m * tiles_n), in_group = tile % (group_m * tiles_n);
        const int height = min(group_m, tiles_m - group * group_m);
        row = (group * group_m + in_group % height) * BLOCK_M;
        column = in_group / height * BLOCK_N;
        const int all_k_tiles = (K + BLOCK_K - 1LL) / BLOCK_K;
        const int first_k_tile = static_cast<int>(static_cast<long long>(all_k_tiles) * part / SPLIT_K);
        k_tiles = static_cast<int>(static_cast<long long>(all_k_tiles) * (part + 1) / SPLIT_K) - first_k_tile;
        k = first_k_tile * BLOCK_K;
        const int warp = threadIdx.x / 32;
        warp_row = warp / WARPS_N * WARP_M;
        warp_column = warp % WARPS_N * WARP_N;
    }
};
