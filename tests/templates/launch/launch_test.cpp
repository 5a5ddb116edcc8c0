#include "templates/launch/launch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/templates/launch/support.h"

namespace smemtune {
namespace {

TEST(Launch, IsTheManifestsWithTheProblemsExtents) {
    const auto launch = launch_of(builtin("tiled"), tile(16), gemm(100, 33, 8), model_device("sm_90"));
    EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{16, 16, 1}));
    EXPECT_EQ(launch.blocks(), 7 * 3);
    EXPECT_EQ(launch.threads(), 256);
    EXPECT_EQ(launch.shared_bytes(), 2048);
    EXPECT_EQ(launch.registers, 32);
}

TEST(Launch, ThatLacksAParametersValueIsAnError) {
    EXPECT_THROW((void)launch_of(builtin("tiled"), {}, gemm(1, 1, 1), model_device("sm_90")), ExpressionError);
}

TEST(Launch, WithAConstantThatHasNoValueIsAnError) {
    auto kernel = builtin("tiled");
    const std::string value = "64 / (TILE_WIDTH - 8)";
    kernel.derived.push_back({.name = "PASSES", .value = value, .constant = true, .expression = Expression(value)});
    EXPECT_THROW((void)launch_of(kernel, tile(8), gemm(1, 1, 1), model_device("sm_90")), ExpressionError);
    EXPECT_NO_THROW((void)launch_of(kernel, tile(16), gemm(1, 1, 1), model_device("sm_90")));
}

TEST(Launch, CarriesTheRuntimeParametersInTheManifestsOrder) {
    auto kernel = builtin("joint_tiled");
    for (auto& parameter : kernel.parameters) parameter.runtime = parameter.name != "TSZ_COLS";
    std::ranges::sort(kernel.parameters, std::ranges::greater{}, &Parameter::name);
    const auto configuration = default_configuration(kernel);
    const auto launch = launch_of(kernel, configuration, gemm(64, 64, 64), model_device("sm_90"));
    EXPECT_EQ(launch.runtime_arguments, (std::vector{8, 64})) << "TSZ_STRIPS, TSZ_ROWS";
    EXPECT_TRUE(launch_of(builtin("tiled"), tile(16), gemm(1, 1, 1), model_device("sm_90")).runtime_arguments.empty());
    kernel = builtin("tiled");
    kernel.parameters.push_back({.name = "GROUP", .values = {1}, .default_value = 1, .summary = "", .runtime = true});
    EXPECT_THROW((void)launch_of(kernel, tile(16), gemm(1, 1, 1), model_device("sm_90")), ExpressionError);
}

TEST(Launch, PassesTheWorkspaceAsTheLastArgument) {
    const auto kernel = builtin("warp_tiled");
    auto configuration = default_configuration(kernel);
    const auto device = model_device("sm_90");
    EXPECT_EQ(launch_of(kernel, configuration, gemm(100, 33, 8000), device).workspace, (WorkspaceArgument{0, 12}));
    configuration.values["SPLIT_K"] = 8;
    EXPECT_EQ(launch_of(kernel, configuration, gemm(100, 33, 8000), device).workspace,
              (WorkspaceArgument{4 * (8 * 128 * 64 + 32), 12}));
    EXPECT_FALSE(launch_of(builtin("tiled"), tile(16), gemm(1, 1, 1), device).workspace);
}

TEST(Launch, HasATensorMapOfEachMatrixAsItIsStored) {
    const auto kernel = builtin("wgmma_tiled");
    auto configuration = default_configuration(kernel);
    configuration.values["BLOCK_N"] = 96;
    const auto launch = launch_of(kernel, configuration, gemm(1000, 520, 304, "bf16", "tt"), model_device("sm_90"));
    // Each line has: index of the matrix, index of its stride, rows and columns of the matrix, rows and columns of the
    // box, bytes of an element, whether the tile is swizzled.
    EXPECT_EQ(launch.tensor_maps, (std::vector<TensorMapArgument>{{4, 5, 304, 1000, 64, 64, 2, true},
                                                                  {6, 7, 520, 304, 96, 64, 2, true},
                                                                  {9, 10, 1000, 520, 16, 32, 2, true}}));
}

TEST(Launch, HasAPlaceInTheWorkspaceForACopyOfEachOperandWithoutAlignedRows) {
    const auto kernel = builtin("wgmma_tiled");
    const auto configuration = default_configuration(kernel);
    const auto launch = launch_of(kernel, configuration, gemm(100, 35, 300, "bf16", "nt"), model_device("sm_90"));
    ASSERT_EQ(launch.tensor_maps.size(), 3U);
    const auto &a = launch.tensor_maps[0], &b = launch.tensor_maps[1];
    EXPECT_EQ(a.row_bytes_of_copy(), 608) << "300 elements, up to the next 16 bytes";
    for (const auto& [columns, bytes] : {std::pair{3, 16}, {8, 16}, {9, 32}}) {
        EXPECT_EQ((TensorMapArgument{.columns = columns, .element_bytes = 2}.row_bytes_of_copy()), bytes) << columns;
    }
    EXPECT_EQ(a.copy_at, 128) << "behind the counters";
    EXPECT_EQ(b.copy_at, 128 + 60800 + 0) << "60800 is a multiple of 128";
    EXPECT_EQ(launch.tensor_maps[2].copy_at, std::nullopt);
    EXPECT_EQ(launch.workspace->bytes, 128 + 60800 + 21376) << "35 rows of 608 bytes, up to the next 128";
    const auto aligned = launch_of(kernel, configuration, gemm(100, 35, 304, "bf16", "nt"), model_device("sm_90"));
    EXPECT_EQ(aligned.tensor_maps[0].copy_at, std::nullopt);
    EXPECT_EQ(aligned.workspace->bytes, 0);
}

TEST(Launch, HasRoomForTheSumsOfAllTilesOfACluster) {
    const auto kernel = builtin("wgmma_tiled");
    auto configuration = default_configuration(kernel);
    for (const auto& [name, value] : {std::pair{"BLOCK_N", 128}, {"CLUSTER_M", 2}, {"CLUSTER_K", 2}, {"SPLIT_K", 2}}) {
        configuration.values[name] = value;
    }
    // The kernel places the sums of tile `t` of a cluster behind those of tile `t - 1`.
    const auto launch = launch_of(kernel, configuration, gemm(256, 128, 1024, "bf16"), model_device("sm_90"));
    EXPECT_EQ(launch.grid[0], 2 * 2 * 2) << "two tiles, each computed by four blocks";
    EXPECT_EQ(launch.workspace->bytes, 128 + 128 + 2 * 2 * 128 * 128 * 4) << "counters, then two parts of two tiles";
}

// In layout nt, A is copied only if its rows are misaligned. B is always copied, into two planes along K.
TEST(Launch, HasTheShapeOfACopyThatIsNotThatOfTheMatrix) {
    const auto kernel = builtin("wgmma_split_tiled");
    const auto configuration = default_configuration(kernel);
    const auto launch = launch_of(kernel, configuration, gemm(100, 35, 300, "3xtf32", "nt"), model_device("sm_90"));
    EXPECT_EQ(launch.tensor_maps, (std::vector<TensorMapArgument>{{4, 5, 100, 300, 128, 32, 4, true},
                                                                  {6, 7, 35, 2 * 320, 128, 32, 4, true, 128, true}}));
    EXPECT_EQ(launch.workspace->bytes, 128 + 35 * 2 * 320 * 4);
    const auto turned = launch_of(kernel, configuration, gemm(100, 35, 301, "3xtf32", "nn"), model_device("sm_90"));
    EXPECT_EQ(turned.tensor_maps,
              (std::vector<TensorMapArgument>{{4, 5, 100, 2 * 320, 128, 32, 4, true, 128 + 301 * 36 * 4 + 48, true},
                                              {6, 7, 301, 35, 32, 32, 4, true, 128}}))
        << "D is the transpose of C: A is copied behind B, whose rows of 35 elements are misaligned";
}

TEST(Launch, HasNoCopyWhereTheMatrixCanBeReadAsItIs) {
    const auto kernel = builtin("wgmma_tf32_tiled");
    const auto configuration = default_configuration(kernel);
    for (const auto* const layout : {"nn", "nt", "tt"}) {
        const auto launch = launch_of(kernel, configuration, gemm(100, 36, 300, "tf32", layout), model_device("sm_90"));
        for (const auto& map : launch.tensor_maps) EXPECT_FALSE(map.copy_at || map.is_copy) << layout;
        EXPECT_EQ(launch.workspace->bytes, 0) << layout;
    }
    const auto launch = launch_of(kernel, configuration, gemm(100, 36, 300, "tf32", "tn"), model_device("sm_90"));
    EXPECT_FALSE(launch.tensor_maps[0].copy_at);
    EXPECT_TRUE(launch.tensor_maps[1].is_copy) << "neither operand is contiguous along K";
    EXPECT_EQ(launch.tensor_maps[1].rows, 36);
    EXPECT_EQ(launch.tensor_maps[1].columns, 320);
}

TEST(Launch, PassesTheWorkspaceBehindTheTensorMaps) {
    auto kernel = builtin("wgmma_tiled");
    kernel.workspace_bytes = Expression("4 * M");
    const auto launch =
        launch_of(kernel, default_configuration(kernel), gemm(100, 100, 100, "f16"), model_device("sm_90"));
    EXPECT_EQ(launch.workspace, (WorkspaceArgument{400, 15})) << "11 arguments, GROUP_M, three maps";
}

// An argument that is copied to a symbol is not passed to the kernel, so the workspace comes one place earlier.
TEST(Launch, CopiesAWholeBatchToASymbolThatTakesNoPlaceAmongTheArguments) {
    auto kernel = builtin("batched_tiled");
    auto& arguments = kernel.operation.arguments;
    const auto b = std::ranges::find(arguments, "B", &Argument::name);
    b->symbol = "table";
    kernel.workspace_bytes = Expression("4 * M");
    const auto launch = launch_of(kernel, tile(16), batched_gemm(5, 100, 30, 20), model_device("sm_90"));
    const auto place = static_cast<std::size_t>(b - arguments.begin());
    EXPECT_EQ(launch.symbols, (std::vector<SymbolArgument>{{"table", place, 5 * 20 * 30 * 4}}));
    EXPECT_EQ(launch.workspace, (WorkspaceArgument{400, arguments.size() - 1}));
}

TEST(Launch, HasACopyAtEachOffsetFrom0On) {
    auto kernel = builtin("wgmma_tiled");
    const auto copy_at = [&](const char* offset) {
        kernel.tensor_maps[0].copy_at = Expression(offset);
        return launch_of(kernel, default_configuration(kernel), gemm(64, 64, 64, "f16"), model_device("sm_90"))
            .tensor_maps[0]
            .copy_at;
    };
    EXPECT_EQ(copy_at("0"), 0);
    EXPECT_EQ(copy_at("128"), 128);
    EXPECT_EQ(copy_at("-1"), std::nullopt);
}

}  // namespace
}  // namespace smemtune
