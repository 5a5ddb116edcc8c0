#include "templates/launch/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

constexpr auto greatest = std::numeric_limits<std::int64_t>::max();

KernelTemplate builtin(const std::string& name) {
    const auto all = load_templates(builtin_sources());
    return *std::ranges::find(all, name, &KernelTemplate::name);
}

Configuration tile(std::int64_t width) { return {{{"TILE_WIDTH", width}}}; }

// What a launch that fits in everything becomes with one thing changed.
template <class Change>
std::optional<std::string> broken_by(Change change) {
    Launch launch{.grid = {100, 1, 1}, .block = {256, 1, 1}, .static_shared_bytes = 1024, .registers = 32};
    change(launch);
    return broken_limit(launch, model_device("sm_90"));
}

TEST(Limits, TheLaunchIsTheManifestsWithTheProblemsExtents) {
    const auto launch = launch_of(builtin("tiled"), tile(16), gemm(100, 33, 8), model_device("sm_90"));
    EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{16, 16, 1}));
    EXPECT_EQ(launch.blocks(), 7 * 3);
    EXPECT_EQ(launch.threads(), 256);
    EXPECT_EQ(launch.shared_bytes(), 2048);
    EXPECT_EQ(launch.registers, 32);
}

TEST(Limits, ALaunchThatAsksForAParameterWithoutValueIsAnError) {
    EXPECT_THROW((void)launch_of(builtin("tiled"), {}, gemm(1, 1, 1), model_device("sm_90")), ExpressionError);
}

TEST(Limits, ALaunchCarriesTheRuntimeParametersInTheManifestsOrder) {
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

TEST(Limits, AWorkspaceIsTheLastArgument) {
    const auto kernel = builtin("warp_tiled");
    auto configuration = default_configuration(kernel);
    const auto device = model_device("sm_90");
    EXPECT_EQ(launch_of(kernel, configuration, gemm(100, 33, 8000), device).workspace, (WorkspaceArgument{0, 12}));
    configuration.values["SPLIT_K"] = 8;
    EXPECT_EQ(launch_of(kernel, configuration, gemm(100, 33, 8000), device).workspace,
              (WorkspaceArgument{4 * (8 * 128 * 64 + 32), 12}));
    EXPECT_FALSE(launch_of(builtin("tiled"), tile(16), gemm(1, 1, 1), device).workspace);

    auto holder = device;
    holder.memory_bytes = 1000;
    const auto broken_by = [&](std::int64_t bytes) {
        Launch launch;
        launch.workspace = WorkspaceArgument{bytes, 12};
        return broken_limit(launch, holder);
    };
    EXPECT_EQ(broken_by(1000), std::nullopt);
    EXPECT_THAT(broken_by(1001), Optional(StartsWith("bytes of workspace: asks for 1001")));
    EXPECT_THAT(broken_by(-1), Optional(StartsWith("the workspace is negative")));
}

TEST(Limits, TheTextbooksReuseComesOutOfTheModel) {
    const auto tiled = builtin("tiled");
    const auto device = model_device("sm_90");
    const auto small = reuse_of(tiled, tile(16), gemm(1024, 1024, 1000), device);
    EXPECT_EQ(launch_of(tiled, tile(16), gemm(1024, 1024, 1000), device).shared_bytes(), 2 * 1024);
    EXPECT_EQ(small.phases, 63);
    EXPECT_EQ(small.loads_per_phase, 512);
    EXPECT_EQ(small.operations_per_phase, 8192);
    EXPECT_EQ(small.barriers_per_phase, 2);
    EXPECT_EQ(small.operations_per_load(), 16);
    const auto large = reuse_of(tiled, tile(32), gemm(1024, 1024, 1000), device);
    EXPECT_EQ(launch_of(tiled, tile(32), gemm(1024, 1024, 1000), device).shared_bytes(), 8 * 1024);
    EXPECT_EQ(large.loads_per_phase, 2048);
    EXPECT_EQ(large.operations_per_phase, 65536);
    EXPECT_EQ(large.operations_per_load(), 32);
}

TEST(Limits, WithoutAModelNothingIsSaidOfReuse) {
    auto tiled = builtin("tiled");
    tiled.model.reset();
    const auto reuse = reuse_of(tiled, tile(16), gemm(8, 8, 8), model_device("sm_90"));
    EXPECT_EQ(reuse.loads_per_phase, 0);
    EXPECT_EQ(reuse.operations_per_load(), 0);
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
    // 65 x 32 = 2,080 round up to 2,304 for each of 32 warps.
    EXPECT_THAT(broken_by([](Launch& l) {
                    l.block[0] = 1024;
                    l.registers = 65;
                }),
                Optional(std::string("registers per block: asks for 73728, the device allows 65536")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[0] = 2147483648; }), Optional(StartsWith("blocks along x")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[1] = 65536; }), Optional(StartsWith("blocks along y")));
    EXPECT_THAT(broken_by([](Launch& l) { l.grid[2] = 65536; }), Optional(StartsWith("blocks along z")));
}

// 9 warps of 7,168 registers are 64,512, but the hardware checks as if it gave each of its 4 schedulers 3 warps.
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

TEST(Limits, AnObjectionNamesWhatIsWrongWithAConfiguration) {
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

TEST(Limits, AnObjectionNamesTheDevicesLimit) {
    EXPECT_THAT(
        infeasibility(builtin("tiled"), tile(32), gemm(64, 64, 64), model_device("sm_90,threads_per_block=512")),
        Optional(std::string("threads per block: asks for 1024, the device allows 512")));
}

TEST(Limits, TheFeasibleSpaceHoldsTheConfigurationsWithoutObjection) {
    auto odd = builtin("tiled_transpose");
    odd.constraints.clear();  // so that the limits have something to remove
    for (auto& parameter : odd.parameters) {
        if (parameter.name == "ROWS_PER_THREAD") parameter.values = {1, 2, 4, 8, 128};  // 128: no thread at all
    }
    odd.registers = Expression("TILE_WIDTH * 4");
    odd.dynamic_shared_bytes = Expression("(PAD - 1) * -1024 + (TILE_WIDTH - 64)");
    const Problem problem{.operation = "transpose", .extents = {{"M", 1000}, {"N", 3000}}};
    auto kernels = load_templates(builtin_sources());
    kernels.push_back(odd);
    for (auto& kernel : kernels) {  // the largest spaces are too large to look at every point: their corners
        if (!kernel.name.ends_with("warp_tiled")) continue;
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            auto& values = kernel.parameters[i].values;
            values = {values.front(), values.back()};
            if (i % 4 == 2) values.pop_back();  // and of those a sixteenth
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
            std::size_t next = 0;
            for (std::size_t i = 0; i < every.size(); ++i) {
                const auto why_not = infeasibility(kernel, every[i], size, device);
                const bool held = next < space.size() && space[next] == every[i];
                EXPECT_EQ(held, !why_not)
                    << name << " " << kernel.name << " " << to_text(every[i]) << ": " << why_not.value_or("");
                next += held ? 1 : 0;
            }
            EXPECT_EQ(next, space.size());
        }
    }
}

TEST(Limits, TheFeasibleSpacesCensusTellsTemplateAndDeviceApart) {
    const auto space = feasible_space(builtin("tiled"), gemm(64, 64, 64), model_device("sm_90,threads_per_block=64"));
    EXPECT_EQ(space.size(), 2U);  // 4 and 8
    std::uint64_t by_device = 0;
    for (const auto& [constraint, points] : space.census()) {
        if (constraint.reason == "threads per block") by_device = points;
    }
    EXPECT_EQ(by_device, 2U);
}

}  // namespace
}  // namespace smemtune
