#include "templates/launch/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/templates/launch/support.h"

namespace smemtune {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

constexpr auto greatest = std::numeric_limits<std::int64_t>::max();

// Returns the limit that a launch breaks after `change`. Before the change, the launch breaks none.
template <class Change>
std::optional<std::string> broken_by(Change change) {
    Launch launch{.grid = {100, 1, 1}, .block = {256, 1, 1}, .static_shared_bytes = 1024, .registers = 32};
    change(launch);
    return broken_limit(launch, model_device("sm_90"));
}

TEST(Limits, AWorkspaceMustFitInTheDevicesMemory) {
    auto device = model_device("sm_90");
    device.memory_bytes = 1000;
    const auto broken_by = [&](std::int64_t bytes) {
        Launch launch;
        launch.workspace = WorkspaceArgument{bytes, 12};
        return broken_limit(launch, device);
    };
    EXPECT_EQ(broken_by(1000), std::nullopt);
    EXPECT_THAT(broken_by(1001), Optional(StartsWith("bytes of workspace: asks for 1001")));
    EXPECT_THAT(broken_by(-1), Optional(StartsWith("the workspace is negative")));
}

TEST(Limits, TheGridsLimitsAreTheSameWithAndWithoutAMessage) {
    auto device = model_device("sm_90");
    device.memory_bytes = 1000;
    const auto x = device.grid_x;
    const auto y = device.grid_y;
    const auto z = device.grid_z;
    int within = 0;
    for (const auto& launch :
         {Launch{.grid = {x, y, z}}, Launch{.grid = {x + 1, y, z}}, Launch{.grid = {x, y + 1, z}},
          Launch{.grid = {x, y, z + 1}}, Launch{.grid = {0, 1, 1}}, Launch{.grid = {1, 0, 1}},
          Launch{.grid = {1, 1, -1}}, Launch{.workspace = {{1000, 12}}}, Launch{.workspace = {{1001, 12}}},
          Launch{.workspace = {{-1, 12}}}, Launch{.workspace = {{0, 12}}}}) {
        const auto workspace = launch.workspace ? std::optional(launch.workspace->bytes) : std::nullopt;
        const bool is_within = is_within_grid_limits(launch.grid, workspace, device);
        EXPECT_EQ(is_within, !broken_grid_limit(launch, device)) << launch.grid[0] << " " << workspace.value_or(-2);
        within += is_within ? 1 : 0;
    }
    EXPECT_EQ(within, 3);
    device.memory_bytes = 0;  // unknown
    EXPECT_TRUE(is_within_grid_limits({1, 1, 1}, 1001, device));
}

TEST(Limits, ALaunchThatFitsBreaksNone) {
    EXPECT_EQ(broken_by([](Launch&) {}), std::nullopt);
    EXPECT_EQ(broken_by([](Launch& l) { l.block = {16, 64, 1}; }), std::nullopt);
    EXPECT_EQ(broken_by([](Launch& l) { l.static_shared_bytes = 48 * 1024; }), std::nullopt);
    EXPECT_EQ(broken_by([](Launch& l) { l.dynamic_shared_bytes = 226 * 1024; }), std::nullopt);
    EXPECT_EQ(broken_by([](Launch& l) { l.registers = 255; }), std::nullopt);
    EXPECT_EQ(broken_by([](Launch& l) { l.grid = {2147483647, 65535, 65535}; }), std::nullopt);
}

TEST(Limits, TheLimitThatALaunchBreaksIsNamedWithBothNumbers) {
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block = {32, 33, 1};
                }),
                Optional(std::string("threads per block: asks for 1056, the device allows 1024")));
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block = {1, 1, 65};
                }),
                Optional(std::string("threads along z: asks for 65, the device allows 64")));
    EXPECT_THAT(broken_by([](Launch& l) { l.static_shared_bytes = 48 * 1024 + 1; }),
                Optional(std::string("static shared bytes per block: asks for 49153, the device allows 49152")));
    EXPECT_THAT(broken_by([](Launch& l) { l.dynamic_shared_bytes = 226 * 1024 + 1; }),
                Optional(std::string("shared bytes per block: asks for 232449, the device allows 232448")));
    EXPECT_THAT(broken_by([](Launch& l) { l.registers = 256; }),
                Optional(std::string("registers per thread: asks for 256, the device allows 255")));
    // 65 registers x 32 threads are 2,080 registers per warp, which are rounded up to 2,304. 32 warps need 73,728.
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block[0] = 1024;
                    l.registers = 65;
                }),
                Optional(std::string("registers per block: asks for 73728, the device allows 65536")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[0] = 2147483648; }), Optional(StartsWith("blocks along x")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[1] = 65536; }), Optional(StartsWith("blocks along y")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[2] = 65536; }), Optional(StartsWith("blocks along z")));
}

TEST(Limits, TheBlockAndTheGridAreCheckedSeparately) {
    const auto device = model_device("sm_90");
    Launch launch{.grid = {100, 1, 1}, .block = {256, 1, 1}};
    EXPECT_EQ(broken_block_limit(launch, device), std::nullopt);
    EXPECT_EQ(broken_grid_limit(launch, device), std::nullopt);
    launch.grid = {1, 65536, 1};
    EXPECT_EQ(broken_block_limit(launch, device), std::nullopt);
    EXPECT_NE(broken_grid_limit(launch, device), std::nullopt);
    launch = {.grid = {1, 1, 1}, .block = {1025, 1, 1}};
    EXPECT_NE(broken_block_limit(launch, device), std::nullopt);
    EXPECT_EQ(broken_grid_limit(launch, device), std::nullopt);
}

// 9 warps of 7,168 registers need 64,512 registers. But the hardware counts 12 warps, as if each of its 4 schedulers
// got 3.
TEST(Limits, RegistersPerBlockCountWholeRoundsOfWarps) {
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block[0] = 288;
                    l.registers = 224;
                }),
                Optional(std::string("registers per block: asks for 86016, the device allows 65536")));
}

TEST(Limits, AnEmptyOrNegativeLaunchIsBroken) {
    EXPECT_THAT(broken_by([](Launch& l) { l.block[1] = 0; }), Optional(HasSubstr("empty")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[0] = 0; }), Optional(HasSubstr("empty")));
    EXPECT_THAT(broken_by([](Launch& l) { l.block = {-16, -16, 1}; }), Optional(HasSubstr("empty")));
    EXPECT_THAT(broken_by([](Launch& l) { l.dynamic_shared_bytes = -1; }), Optional(HasSubstr("negative")));
}

TEST(Limits, NumbersThatNoMachineHoldsAreBrokenLimitsToo) {
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block = {greatest, greatest, 2};
                }),
                Optional(StartsWith("threads per block")));
    EXPECT_THAT(broken_by([](Launch& l) { l.dynamic_shared_bytes = greatest; }), Optional(StartsWith("shared bytes")));
    EXPECT_THAT(broken_by([](Launch& l) { l.registers = greatest; }), Optional(StartsWith("registers per thread")));
}

TEST(Limits, AnInfeasibilityNamesWhatIsWrongWithAConfiguration) {
    const auto joint = builtin("joint_tiled");
    const auto object = [&](std::string_view text) {
        return infeasibility(joint, parse_configuration(text), gemm(512, 512, 512), model_device("sm_90"));
    };
    EXPECT_EQ(object("TSZ_ROWS=64,TSZ_COLS=32,TSZ_STRIPS=8"), std::nullopt);
    EXPECT_THAT(object("TSZ_ROW=64"), Optional(std::string("there is no parameter 'TSZ_ROW'")));
    EXPECT_THAT(object("TSZ_ROWS=64,TSZ_COLS=32"), Optional(std::string("parameter 'TSZ_STRIPS' has no value")));
    EXPECT_THAT(object("TSZ_ROWS=65"), Optional(std::string("TSZ_ROWS=65 is not among its values: 64 128 256")));
    EXPECT_THAT(
        object("TSZ_ROWS=256,TSZ_COLS=16,TSZ_STRIPS=8"),
        Optional(std::string(
            "every thread copies the same number of elements of B's strip (TSZ_STRIPS * TSZ_COLS % TSZ_ROWS == 0)")));
}

TEST(Limits, AnInfeasibilityNamesTheDevicesLimit) {
    EXPECT_THAT(
        infeasibility(builtin("tiled"), tile(32), gemm(64, 64, 64), model_device("sm_90,threads_per_block=512")),
        Optional(std::string("threads per block: asks for 1024, the device allows 512")));
}

TEST(Limits, TheFeasibleSpaceHoldsTheFeasibleConfigurations) {
    auto odd = builtin("tiled_transpose");
    odd.constraints.clear();  // without constraints, only the limits remove points
    for (auto& parameter : odd.parameters) {
        if (parameter.name == "ROWS_PER_THREAD") parameter.values = {1, 2, 4, 8, 128};  // 128: a block has no threads
    }
    odd.registers = Expression("TILE_WIDTH * 4");
    odd.dynamic_shared_bytes = Expression("(PAD - 1) * -1024 + (TILE_WIDTH - 64)");
    const Problem problem{.operation = "transpose", .extents = {{"M", 1000}, {"N", 3000}}};
    auto kernels = builtin_templates();
    kernels.push_back(odd);
    for (auto& kernel : kernels) {  // keeps only the first and last values in the largest spaces
        double points = 1;
        for (const auto& parameter : kernel.parameters) points *= static_cast<double>(parameter.values.size());
        if (points < 100'000) continue;
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            auto& values = kernel.parameters[i].values;
            values = {values.front(), values.back()};
            if (i % 4 == 2) values.pop_back();  // keeps only the first value of every fourth parameter
        }
    }
    for (const auto* name : {"sm_75", "sm_90", "sm_90,threads_per_block=200,registers_per_block=20000",
                             "sm_86,shared_bytes_per_block=4000,grid_x=5000", "shared_bytes_per_block=8000"}) {
        const auto device = model_device(name);
        for (const auto& kernel : kernels) {
            const auto& operation = kernel.operation.name;
            const auto size = operation == "gemm"           ? gemm(1000, 3000, 50)
                              : operation == "batched_gemm" ? batched_gemm(9, 1000, 3000, 50)
                                                            : problem;
            const ParameterSpace every(kernel.parameters, {}, {});
            const auto space = feasible_space(kernel, size, device);
            // Tests only every seventh point of a large space. With an even step, a parameter with two values could
            // have the same value at every tested point.
            const std::size_t stride = every.size() > 1000 ? 7 : 1;
            for (std::size_t i = 0; i < every.size(); i += stride) {
                const auto configuration = every[i];
                const auto why_not = infeasibility(kernel, configuration, size, device);
                EXPECT_EQ(space.find(configuration).has_value(), !why_not)
                    << name << " " << kernel.name << " " << to_text(configuration) << ": " << why_not.value_or("");
            }
        }
    }
}

TEST(Limits, TheFeasibleSpacesCensusTellsTemplateAndDeviceApart) {
    const auto space = feasible_space(builtin("tiled"), gemm(64, 64, 64), model_device("sm_90,threads_per_block=64"));
    EXPECT_EQ(space.size(), 2U);  // TILE_WIDTH 4 and 8 remain
    std::uint64_t by_device = 0;
    for (const auto& [constraint, points] : space.census()) {
        if (constraint.reason == "threads per block") by_device = points;
    }
    EXPECT_EQ(by_device, 2U);
}

TEST(Limits, TheCensusShowsEachRuleInAShortForm) {
    auto kernel = builtin("tiled");
    kernel.constraints.clear();
    kernel.workspace_bytes = Expression("M");
    const auto space = feasible_space(kernel, gemm(64, 64, 64), model_device("sm_90"));
    std::vector<std::string> rules;
    for (const auto& each : space.census()) rules.push_back(each.constraint.reason + ": " + each.constraint.text());
    const auto in = [](const Expression& expression) { return "(" + expression.text() + ")"; };
    EXPECT_THAT(
        rules,
        testing::ElementsAre(
            StartsWith("the grid or the block is empty: min(min("),
            StartsWith("the grid or the block is empty: min(min("),
            "threads per block: block <= device.threads_per_block",
            "threads along z: " + in(kernel.block[2]) + " <= 64",
            "static shared memory per block: static_shared_bytes <= device.static_shared_bytes_per_block",
            "shared memory per block: static_shared_bytes + dynamic_shared_bytes <= device.shared_bytes_per_block",
            StartsWith("shared memory is negative: min("), "the workspace is negative: (M) >= 0",
            "bytes of workspace: workspace_bytes <= device.memory_bytes",
            "registers per thread, by the manifest's estimate: registers <= device.registers_per_thread",
            "registers per block, by the manifest's estimate: registers, allocated to warps by 256 and to four warps "
            "at a "
            "time, <= device.registers_per_block",
            "blocks of the grid along x: " + in(kernel.grid[0]) + " <= device.grid_x",
            "blocks of the grid along y: " + in(kernel.grid[1]) + " <= device.grid_y",
            "blocks of the grid along z: " + in(kernel.grid[2]) + " <= device.grid_z"));
}

TEST(Limits, AWorkspaceMayTakeTheWholeMemoryAndIsNotLimitedWhereThatIsUnknown) {
    auto kernel = builtin("tiled");
    kernel.workspace_bytes = Expression("M * TILE_WIDTH");
    const auto sizes = [&](const std::string& device) {
        return feasible_space(kernel, gemm(64, 64, 64), model_device(device)).size();
    };
    const auto all = sizes("sm_90");
    EXPECT_EQ(sizes("sm_90,memory_bytes=2048"), all) << "64 * 32";
    EXPECT_EQ(sizes("sm_90,memory_bytes=2047"), all - 1);
    kernel.workspace_bytes = Expression("TILE_WIDTH - 9");
    EXPECT_LT(sizes("sm_90"), all);
    kernel.workspace_bytes = Expression("TILE_WIDTH - 4");
    EXPECT_EQ(sizes("sm_90"), all) << "an empty one";
}

TEST(Limits, DeclaredAreTheTemplatesRulesAlone) {
    const auto kernel = builtin("tiled");
    const auto device = model_device("sm_90,threads_per_block=64");
    EXPECT_GT(declared_space(kernel, gemm(64, 64, 64), device).size(),
              feasible_space(kernel, gemm(64, 64, 64), device).size());
}

// Tensor cores cut bits off sums instead of rounding them, so the error of a long sum is large. The kernels therefore
// split a long sum along K, even if the tiles alone would fill the device.
TEST(Limits, LongSumsOfTf32HaveConfigurationsAtEverySize) {
    const auto device = model_device("sm_90");
    for (const auto& [name, type] : {std::pair("wgmma_tf32_tiled", "tf32"), std::pair("wgmma_split_tiled", "3xtf32"),
                                     std::pair("tensor_warp_tiled", "tf32")}) {
        auto kernel = builtin(name);
        const std::vector<std::string> free{"SPLIT_K", "CLUSTER_K", "BLOCK_N", "STAGES"};
        for (auto& parameter : kernel.parameters) {  // one valid configuration is enough for the test
            if (std::ranges::find(free, parameter.name) == free.end()) parameter.values = {parameter.default_value};
        }
        for (const std::int64_t k : {6144, 6145, 14336, 16384, 28672, 40000, 65536, 80000}) {
            EXPECT_GT(feasible_space(kernel, gemm(4096, 4096, k, type), device).size(), 0U) << name << ' ' << k;
        }
    }
}

TEST(Infeasibility, ARuleHoldsWithAnyValueBut0) {
    auto kernel = builtin("tiled");
    const auto why = [&](const std::string& rule) {
        kernel.constraints = {{Expression(rule), "the reason", ""}};
        return infeasibility(kernel, tile(16), gemm(64, 64, 64), model_device("sm_90"));
    };
    for (const auto* rule : {"1", "2", "TILE_WIDTH & 48", "-1"}) EXPECT_EQ(why(rule), std::nullopt) << rule;
    for (const auto* rule : {"0", "TILE_WIDTH - 16", "TILE_WIDTH & 15"}) EXPECT_TRUE(why(rule)) << rule;
}

}  // namespace
}  // namespace smemtune
