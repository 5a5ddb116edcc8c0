// Determines which part of the product a block computes.
#pragma once

#include "device/cluster.h"
#include "gemm/warp_tiled/shape.h"
#include "gemm/warp_tiled/tile_loader.h"

/// The tile of C that a block computes, and its share of K.
///
/// The grid. There are `whole_tiles` whole tiles and `shared_tiles` shared tiles. A whole tile is computed by one
/// block, and a shared tile by a cluster of CLUSTER_K blocks. If K is also split among `splits` blocks or clusters, the
/// grid is `splits` times as large:
///
///     gridDim.x = (whole_tiles + shared_tiles * CLUSTER_K) * splits
///
/// `splits` is SPLIT_K. With SPLIT_K = 0, the launch chooses `splits`, and all tiles are shared if CLUSTER_K > 1. From
/// gridDim.x and blockIdx.x, a block computes its tile and its place among the blocks that share the tile:
///
///     blocks = gridDim.x / SPLIT_K, or tiles * CLUSTER_K if SPLIT_K = 0
///     splits = gridDim.x / blocks,  split = blockIdx.x / blocks,  block = blockIdx.x % blocks
///     shared_tiles = (blocks - tiles) / (CLUSTER_K - 1), or 0 if CLUSTER_K = 1
///     whole_tiles = tiles - shared_tiles
///     block < whole_tiles:   tile = block,                                            sharers = 1, rank = 0
///     otherwise:             tile = whole_tiles + (block - whole_tiles) / CLUSTER_K,  sharers = CLUSTER_K,
///                            rank = the block's rank in its cluster
///
/// With CLUSTER_K > 1, the blocks of whole tiles are in clusters, too, although each works alone. whole_tiles is
/// therefore a multiple of CLUSTER_K.
///
/// The raster is the order of the tiles. Their numbers run down GROUP_M rows of tiles, then continue in the next
/// column. Blocks that run at the same time thereby share rows of A and columns of B in the L2 cache. For GROUP_M = 2
/// and 3 x 4 tiles:
///
///     0  2  4  6
///     1  3  5  7
///     8  9 10 11
///
/// The share of K. K has all_k_tiles = ceil(K / BLOCK_K) k-tiles. They are divided into P = splits * sharers parts.
/// This block multiplies part p = split * sharers + rank, which consists of
///
///     k-tiles all_k_tiles * p / P  ..  all_k_tiles * (p + 1) / P - 1
///
/// If BLOCK_K does not divide K, k-tile 0 is short: it has K - (all_k_tiles - 1) * BLOCK_K k-steps, and zeros fill the
/// rest. The main loop therefore sees only whole k-tiles.
struct WorkTile {
    int row, column;            // row and column in C of the tile's first element
    int load_row, load_column;  // first row and column that the block computes: `row` and `column`, or less if the
                                // loader's load_origin() moves a tile at an edge of C up or left
    int tiles, tile;            // number of tiles of C; index of this tile
    int splits;                 // number of blocks or clusters that share the tile through the workspace
    int split;                  // index of this block or cluster among them
    int rank, sharers;          // index of this block among the blocks of its cluster that share the tile; their number
    int k_tiles;                // number of k-tiles that this block multiplies
    int first_steps;            // number of k-steps of this block's first k-tile
    long long first_k;          // index of this block's first k-step

    __device__ __forceinline__ WorkTile(int M, int N, int K, int GROUP_M) {
        const int tiles_m = (M - 1) / BLOCK_M + 1;
        const int tiles_n = (N - 1) / BLOCK_N + 1;
        tiles = tiles_m * tiles_n;
        const int blocks = SPLIT_K == 0 ? tiles * CLUSTER_K : gridDim.x / (SPLIT_K == 0 ? 1 : SPLIT_K);
        splits = SPLIT_K == 0 ? gridDim.x / blocks : SPLIT_K;
        split = SPLIT_K == 1 ? 0 : blockIdx.x / blocks;
        const int block = blockIdx.x - split * blocks;
        const int shared_tiles = CLUSTER_K == 1 ? 0 : (blocks - tiles) / max(CLUSTER_K - 1, 1);
        const int whole_tiles = tiles - shared_tiles;
        sharers = CLUSTER_K > 1 && block >= whole_tiles ? CLUSTER_K : 1;
        rank = sharers > 1 ? cluster_rank() : 0;
        tile = sharers == 1 ? block : whole_tiles + (block - whole_tiles) / CLUSTER_K;

        const int group = tile / (GROUP_M * tiles_n);
        const int in_group = tile % (GROUP_M * tiles_n);
        const int height = min(GROUP_M, tiles_m - group * GROUP_M);
        row = (group * GROUP_M + in_group % height) * BLOCK_M;
        column = in_group / height * BLOCK_N;
        load_row = LoaderA::load_origin(row, M);
        load_column = LoaderB::load_origin(column, N);

        const int all_k_tiles = (K - 1) / BLOCK_K + 1;
        const int ragged = K - (all_k_tiles - 1) * BLOCK_K;
        const int parts = splits * sharers;
        const int part = split * sharers + rank;
        const int first_k_tile = static_cast<int>(static_cast<long long>(all_k_tiles) * part / parts);
        k_tiles = static_cast<int>(static_cast<long long>(all_k_tiles) * (part + 1) / parts) - first_k_tile;
        first_steps = first_k_tile == 0 ? ragged : BLOCK_K;
        first_k = first_k_tile == 0 ? 0 : ragged + (first_k_tile - 1LL) * BLOCK_K;
    }
};
