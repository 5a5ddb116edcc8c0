#include <gtest/gtest.h>

#include <algorithm>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

// Returns warp_tiled with only one value for each of seven parameters that do not affect the grid. With all values, the
// space would have millions of points.
KernelTemplate warp_tiled() {
    const auto& all = builtin_templates();
    auto kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
    for (auto& parameter : kernel.parameters) {
        for (const auto* name : {"LANES_M", "LANE_PAIRS", "STAGES", "VECTOR_A", "VECTOR_B", "A_FIRST", "GROUP_M"}) {
            if (parameter.name == name) parameter.values = {parameter.default_value};
        }
    }
    return kernel;
}

// From the size of the grid, the kernel computes which tiles several blocks share.
TEST(WarpTiled, ABlockHasATileOrAWholeClusterSharesOne) {
    const auto kernel = warp_tiled();
    const auto device = model_device("sm_90");
    int in_clusters = 0, mixed = 0, through_memory = 0, filled = 0;
    for (const auto& problem : {gemm(1000, 1000, 1000), gemm(4097, 4097, 4097), gemm(64, 64, 65536),
                                gemm(3000, 5000, 2048), gemm(2112, 2048, 2048)}) {
        const auto space = feasible_space(kernel, problem, device);
        for (std::size_t i = 0; i < space.size(); ++i) {
            const auto configuration = space[i];
            const auto& values = configuration.values;
            const auto cluster = values.at("CLUSTER_K");
            const auto rows = (problem.extents[0].second - 1) / values.at("BLOCK_M") + 1;
            const auto columns = (problem.extents[1].second - 1) / values.at("BLOCK_N") + 1;
            const auto blocks = launch_of(kernel, configuration, problem, device).grid[0];
            const bool fills = values.at("SPLIT_K") == 0;
            const auto split = fills ? blocks / (rows * columns * cluster) : values.at("SPLIT_K");
            if (fills) {
                ++filled;
                ASSERT_GE(split, 2) << to_text(configuration);
                ASSERT_LE(blocks, device.multiprocessors * values.at("BLOCKS_PER_SM") * values.at("SPLIT_WAVES"))
                    << to_text(configuration);
                ASSERT_GE(problem.extents[2].second / (split * cluster), 64) << to_text(configuration);
            }
            ASSERT_EQ(blocks % split, 0) << to_text(configuration);
            const auto surplus = blocks / split - rows * columns;
            if (split > 1) ++through_memory;
            if (cluster == 1) {
                ASSERT_EQ(surplus, 0) << to_text(configuration);
                continue;
            }
            ASSERT_EQ(surplus % (cluster - 1), 0) << to_text(configuration);
            const auto shared = surplus / (cluster - 1);
            const auto alone = rows * columns - shared;
            ASSERT_GE(shared, 1) << to_text(configuration);
            ASSERT_GE(alone, 0) << to_text(configuration);
            ASSERT_EQ(alone % cluster, 0) << to_text(configuration);
            ASSERT_TRUE(alone == 0 || split == 1) << to_text(configuration) << ": split-K needs whole clusters";
            ++in_clusters;
            if (alone > 0) ++mixed;
        }
    }
    EXPECT_GT(in_clusters, 1000);
    EXPECT_GT(through_memory, 1000);
    EXPECT_GT(mixed, 1000);
    EXPECT_GT(filled, 1000);
}

// A space has at most 24 million points. LANE_PAIRS, A_FIRST and GROUP_M occur in no constraint, so the test gives them
// one value each. With all their values, the space would have 16 times as many points.
TEST(WarpTiled, IsNoTooLargeSpaceWhereKIsSharedInMostWays) {
    const auto& all = builtin_templates();
    auto kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
    for (auto& parameter : kernel.parameters) {
        for (const auto* name : {"LANE_PAIRS", "A_FIRST", "GROUP_M"}) {
            if (parameter.name == name) parameter.values = {parameter.default_value};
        }
    }
    const auto size = feasible_space(kernel, gemm(128, 256, 65536), model_device("sm_90")).size();
    EXPECT_GT(size, 500'000U);
    EXPECT_LT(size, 24'000'000U / 16);
}

// With SPLIT_K=0, the launch has as many parts of K as blocks that run at once.
TEST(WarpTiled, FillsTheMultiprocessorsWithPartsOfK) {
    const auto& all = builtin_templates();
    const auto kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
    const auto device = model_device("sm_90");
    const auto blocks = [&](const std::string& how, const Problem& problem) {
        const auto configuration =
            completed(parse_configuration("BLOCK_M=128,BLOCK_N=64,SPLIT_K=0," + how), default_configuration(kernel));
        EXPECT_EQ(infeasibility(kernel, configuration, problem, device), std::nullopt) << how;
        return launch_of(kernel, configuration, problem, device).grid[0];
    };
    const auto deep = gemm(1248, 64, 10911);  // 10 tiles for 132 multiprocessors
    EXPECT_EQ(blocks("BLOCKS_PER_SM=1,CLUSTER_K=1", deep), 10 * 13);
    EXPECT_EQ(blocks("BLOCKS_PER_SM=2,CLUSTER_K=1", deep), 10 * 26);
    EXPECT_EQ(blocks("BLOCKS_PER_SM=2,CLUSTER_K=2", deep), 10 * 26);
    EXPECT_EQ(blocks("BLOCKS_PER_SM=2,CLUSTER_K=4", deep), 10 * 24) << "clusters of 4 leave multiprocessors empty";
    EXPECT_EQ(blocks("BLOCKS_PER_SM=1,CLUSTER_K=1", gemm(1248, 64, 64 * 5)), 10 * 5) << "64 k-steps for each block";
    EXPECT_EQ(blocks("BLOCKS_PER_SM=1,CLUSTER_K=1,BLOCK_K=32,SLICES_K=2", gemm(1248, 64, 64 * 6)), 10 * 3)
        << "four k-tiles";
}

// With SPLIT_WAVES=3, the launch has the number of parts of K with which one, two or three waves take the least time.
TEST(WarpTiled, SplitsKAmongTheBlocksOfSeveralWaves) {
    const auto& all = builtin_templates();
    const auto kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
    const auto device = model_device("sm_90");
    const auto configuration = [&](int blocks_per_sm, int waves) {
        return completed(parse_configuration("BLOCK_M=64,BLOCK_N=128,SPLIT_K=0,BLOCKS_PER_SM=" +
                                             std::to_string(blocks_per_sm) + ",SPLIT_WAVES=" + std::to_string(waves)),
                         default_configuration(kernel));
    };
    const auto blocks = [&](int blocks_per_sm, int waves, const Problem& problem) {
        const auto how = configuration(blocks_per_sm, waves);
        EXPECT_EQ(infeasibility(kernel, how, problem, device), std::nullopt) << to_text(how);
        return launch_of(kernel, how, problem, device).grid[0];
    };
    const auto wide = gemm(64, 9088, 6852);  // 71 tiles for 132 multiprocessors
    EXPECT_EQ(blocks(2, 1, wide), 71 * 3) << "213 of 264 places";
    EXPECT_EQ(blocks(2, 3, wide), 71 * 11) << "781 of 3 x 264 places";
    EXPECT_TRUE(infeasibility(kernel, configuration(1, 1), wide, device)) << "one wave has no room for a second part";
    EXPECT_EQ(blocks(1, 3, wide), 71 * 5) << "355 of 3 x 132 places";
    const auto full = gemm(64, 128 * 66, 6852);
    EXPECT_EQ(blocks(2, 3, full), blocks(2, 1, full)) << "one wave leaves no multiprocessor idle";
    EXPECT_EQ(blocks(2, 3, gemm(64, 128 * 100, 128)), 100 * 2) << "more parts would have less than 64 k-steps";
    const auto whole = infeasibility(
        kernel, completed(parse_configuration("SPLIT_WAVES=3"), default_configuration(kernel)), wide, device);
    EXPECT_TRUE(whole) << "SPLIT_K=1";
}

TEST(WarpTiled, OfEveryExtentHasASpaceOfWhatFits) {
    const auto device = model_device("sm_90");
    const std::int64_t most = 2147483647;
    EXPECT_NO_THROW((void)feasible_space(warp_tiled(), gemm(most, most, most), device));
    const auto& all = builtin_templates();
    auto batched = *std::ranges::find(all, "batched_warp_tiled", &KernelTemplate::name);
    EXPECT_EQ(infeasibility(batched, default_configuration(batched), batched_gemm(most, 128, 128, 128), device),
              std::nullopt);
    batched.parameters = warp_tiled().parameters;
    EXPECT_NO_THROW((void)feasible_space(batched, batched_gemm(most, most, most, most), device));
}

// Blocks that share K must all run at the same time, for all matrices of the batch together.
TEST(WarpTiled, SharesKThroughMemoryInBatchesToo) {
    const auto& all = builtin_templates();
    auto kernel = *std::ranges::find(all, "batched_warp_tiled", &KernelTemplate::name);
    auto configuration = parse_configuration(
        "BLOCK_M=64,BLOCK_N=64,BLOCK_K=32,THREAD_M=8,THREAD_N=8,LANES_M=4,LANE_PAIRS=0,SLICES_K=2,STAGES=3,ASYNC=1,"
        "VECTOR_A=1,VECTOR_B=4,A_FIRST=1,BLOCKS_PER_SM=1,GROUP_M=4,CLUSTER_K=1,SPLIT_K=8,SPLIT_WAVES=1");
    const auto device = model_device("sm_90");
    const auto objection_to = [&](std::int64_t batch) {
        return infeasibility(kernel, configuration, batched_gemm(batch, 64, 64, 65536), device);
    };
    EXPECT_EQ(objection_to(8), std::nullopt);
    EXPECT_EQ(objection_to(16), std::nullopt);
    EXPECT_TRUE(objection_to(17)) << "17 x 8 blocks for 132 places";
    EXPECT_TRUE(objection_to(1)) << "8 blocks";
    configuration.values["SPLIT_K"] = 0;
    const auto blocks = [&](std::int64_t batch) {
        EXPECT_EQ(objection_to(batch), std::nullopt) << batch;
        return launch_of(kernel, configuration, batched_gemm(batch, 64, 64, 65536), device).grid[0];
    };
    EXPECT_EQ(blocks(1), 132);
    EXPECT_EQ(blocks(20), 6) << "20 x 6 blocks for 132 places";
    EXPECT_TRUE(objection_to(67)) << "one block for each matrix";
}

TEST(WarpTiled, HasASpaceWhereTheNumberOfMultiprocessorsIsNotKnown) {
    const auto device = model_device("compute_capability=90,shared_bytes_per_block=232448");
    EXPECT_EQ(device.multiprocessors, 0);
    EXPECT_GT(feasible_space(warp_tiled(), gemm(100, 100, 1000), device).size(), 0U);
}

}  // namespace
}  // namespace smemtune
