// Which part of the product a block computes.
#pragma once

#include "device/cluster.h"
#include "gemm/warp_tiled/shape.h"
#include "gemm/warp_tiled/tile_loader.h"

/// The tile of C that a block computes, and its share of K.
///
/// The grid. With whole_tiles that one block computes alone, and shared_tiles that the CLUSTER_K blocks of a cluster
/// share,
///
///     gridDim.x = (whole_tiles + shared_tiles * CLUSTER_K) * SPLIT_K
///
/// A block finds itself there by
///
///     blocks = gridDim.x / SPLIT_K,  split = blockIdx.x / blocks,  block = blockIdx.x % blocks
///     shared_tiles = (blocks - tiles) / (CLUSTER_K - 1), or 0 if CLUSTER_K = 1
///     whole_tiles = tiles - shared_tiles
///     block < whole_tiles:   tile = block,                                            sharers = 1, rank = 0
///     otherwise:             tile = whole_tiles + (block - whole_tiles) / CLUSTER_K,  sharers = CLUSTER_K,
///                            rank = the block's rank in its cluster
///
/// With CLUSTER_K > 1, blocks of whole tiles are in clusters, too, but each works alone. So whole_tiles is a multiple
/// of CLUSTER_K.
///
/// The raster is the order of the tiles. They are numbered down GROUP_M rows of tiles, then in the next column, so that
/// blocks that run at the same time share rows of A and columns of B in the L2 cache. GROUP_M = 2, 3 x 4 tiles:
///
///     0  2  4  6
///     1  3  5  7
///     8  9 10 11
///
/// The share of K. K has all_k_tiles = ceil(K / BLOCK_K). Of P = SPLIT_K * sharers parts, this block has number
/// p = split * sharers + rank:
///
///     k-tiles all_k_tiles * p / P  ..  all_k_tiles * (p + 1) / P - 1
///
/// If BLOCK_K does not divide K, the first k-tile of all is the short one: it has K - (all_k_tiles - 1) * BLOCK_K
/// k-steps, and zeros fill the rest. So the main loop has whole k-tiles only.
struct WorkTile {
    int row, column;            // the tile's first element of C
    int load_row, load_column;  // the first element that is computed: earlier at the edges (MnMajorLoader::load_origin)
    int tiles, tile;            // number of tiles of C; index of this tile
    int split;                  // index of this block or cluster among the SPLIT_K that share the tile
    int rank, sharers;          // rank of this block in its cluster; blocks of the cluster that share the tile
    int k_tiles;                // k-tiles that this block multiplies
    int first_steps;            // k-steps of the first of them
    long long first_k;          // first k-step of the first of them

    __device__ __forceinline__ WorkTile(int M, int N, int K, int GROUP_M) {
        const int tiles_m = (M - 1) / BLOCK_M + 1;
        const int tiles_n = (N - 1) / BLOCK_N + 1;
        tiles = tiles_m * tiles_n;
        const int blocks = gridDim.x / SPLIT_K;
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
        const int parts = SPLIT_K * sharers;
        const int part = split * sharers + rank;
        const int first_k_tile = static_cast<int>(static_cast<long long>(all_k_tiles) * part / parts);
        k_tiles = static_cast<int>(static_cast<long long>(all_k_tiles) * (part + 1) / parts) - first_k_tile;
        first_steps = first_k_tile == 0 ? ragged : BLOCK_K;
        first_k = first_k_tile == 0 ? 0 : ragged + (first_k_tile - 1LL) * BLOCK_K;
    }
};
