// Runs every built-in kernel on the host device with all checks of its operation, mostly on sizes that no tile divides.
//
// To run every feasible configuration instead of a sample:
//
//     SMEMTUNE_ALL_CONFIGURATIONS=1 ctest -R kernels.
#include <cstdlib>

#include "runtime/configured_kernel.h"
#include "templates/launch/limits.h"
#include "tests/kernels/support.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

std::vector<Problem> problems_of(const KernelTemplate& kernel, const std::string& layout) {
    std::vector<Problem> problems;
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{1, 1, 1},
                                                                      {2, 2, 2},
                                                                      {17, 17, 17},
                                                                      {31, 31, 31},
                                                                      {33, 33, 33},
                                                                      {127, 65, 131},
                                                                      {1, 1000, 3},
                                                                      {1000, 1, 3},
                                                                      {1, 3, 1000},
                                                                      {64, 64, 64},
                                                                      {132, 136, 44}}) {
        problems.push_back(problem_of(kernel, extents, layout));
    }
    return problems;
}

class Correctness : public testing::TestWithParam<Laid> {
protected:
    const KernelTemplate kernel = builtin(GetParam().kernel);
    const std::unique_ptr<Compiler> compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    CompilePool pool{*compiler, cores()};
};

TEST_P(Correctness, EveryConfigurationIsRightForEveryShape) {
    const auto backend = open_host({.seed = 3});
    const auto problems = problems_of(kernel, GetParam().layout);
    const bool all = std::getenv("SMEMTUNE_ALL_CONFIGURATIONS") != nullptr;
    // The configurations are feasible for a size whose rows are whole vectors of 16 bytes, so that some of them use
    // 16-byte copies. is_sampled() decides at which sizes each of them is launched.
    const auto aligned = aligned_problem_of(kernel, GetParam().layout);
    const auto configurations = configurations_of(kernel, aligned, all ? 0 : 5);
    std::vector<std::shared_future<CompilePool::Result>> compiled;
    for (const auto& configuration : configurations) {
        compiled.push_back(pool.submit(program_of(kernel, configuration, problems.front())));
    }
    const auto tools = compile_testbed(*compiler, kernel, problems.front());
    for (std::size_t size = 0; size < problems.size(); ++size) {
        const auto& problem = problems[size];
        Testbed testbed(*backend, kernel.operation, problem, tools, 5);
        for (std::size_t i = 0; i < configurations.size(); ++i) {
            if (!is_sampled(GetParam(), i, size)) continue;
            SCOPED_TRACE(to_text(problem) + " " + to_text(configurations[i]));
            const auto launch = launch_of(kernel, configurations[i], problem, backend->device());
            ASSERT_EQ(broken_limit(launch, backend->device()), std::nullopt);
            const auto loaded = load(*backend, binary_of(compiled[i].get()), launch);
            const auto verdict = testbed.verify(ConfiguredKernel(loaded, launch));
            EXPECT_EQ(verdict.wrong, std::nullopt);
            EXPECT_LE(verdict.worst, 1);
        }
    }
    RecordProperty("configurations", static_cast<int>(configurations.size()));
}

TEST_P(Correctness, TheSameConfigurationGivesTheSameBitsWhateverTheOrderOfThreads) {
    const auto problem = problem_of(kernel, {65, 67, 131}, GetParam().layout);
    const auto configuration = default_configuration(kernel);
    const auto binary = binary_of(pool.submit(program_of(kernel, configuration, problem)).get());
    std::vector<std::byte> bits;
    for (const auto& options : {BackendOptions{.seed = 1, .threads = 2}, {.seed = 2, .threads = 1}, {.seed = 99}}) {
        const auto backend = open_host(options);
        const auto launch = launch_of(kernel, configuration, problem, backend->device());
        const auto loaded = load(*backend, binary, launch);
        ExactOperands operands(*backend, kernel.operation, problem, kernel.operation.checks.front(), false);
        for (int again = 0; again < 2; ++again) {
            operands.run(*loaded, launch);
            if (bits.empty()) bits = operands.bits();
            EXPECT_TRUE(operands.bits() == bits) << "seed " << options.seed << ", run " << again;
        }
    }
}

// ASYNC, SLICES_K, VECTOR_A and VECTOR_B select different code paths of warp_tiled. The sizes of the tests above cover
// the other cases: whole and partial tiles, aligned and unaligned rows, even and odd extents.
TEST(CorrectnessOfWarpTiled, ItsSampleHasEveryWayInEveryLayout) {
    const auto kernel = builtin("warp_tiled");
    for (const auto& layout : kernel.layouts) {
        std::map<std::string, std::set<bool>> seen;
        for (const auto& [values] : configurations_of(kernel, problem_of(kernel, {64, 68, 36}, layout), 5)) {
            for (const auto& [name, value] : values) seen[name].insert(value > 1 || (name == "ASYNC" && value == 1));
        }
        for (const auto* name : {"ASYNC", "SLICES_K", "VECTOR_A", "VECTOR_B"}) {
            EXPECT_EQ(seen.at(name).size(), 2U) << layout << " " << name;
        }
    }
}

class SplitK : public testing::TestWithParam<Laid> {};

// At some sizes, there are fewer k-tiles than blocks that share K. With SPLIT_K=0, the number of blocks that share K
// depends on the size: up to 15 here. The order of blocks and threads must not change any bit of the result.
TEST_P(SplitK, ThroughMemoryIsRightAndTheSameInAnyOrder) {
    const auto kernel = builtin(GetParam().kernel);
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    const bool batched = kernel.operation.extents.size() == 4;
    const auto tools = compile_testbed(
        *compiler, kernel, problem_of(kernel, std::vector<std::int64_t>(batched ? 4 : 3, 1), GetParam().layout));
    for (const auto* how : {"SPLIT_K=2,SPLIT_WAVES=1,SLICES_K=1,VECTOR_A=1,VECTOR_B=1",
                            "SPLIT_K=8,SPLIT_WAVES=1,SLICES_K=4,VECTOR_A=4,VECTOR_B=4",
                            "SPLIT_K=0,SPLIT_WAVES=1,SLICES_K=2,VECTOR_A=1,VECTOR_B=1",
                            "SPLIT_K=0,SPLIT_WAVES=3,SLICES_K=1,VECTOR_A=1,VECTOR_B=1"}) {
        const auto configuration = parse_configuration(
            "BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,STAGES=3,"
            "ASYNC=0,A_FIRST=1,BLOCKS_PER_SM=1,GROUP_M=4,CLUSTER_K=1," +
            std::string(how));
        for (std::vector<std::int64_t> extents :
             {std::vector<std::int64_t>{36, 40, 300}, {17, 33, 131}, {3, 1, 20}, {5, 7, 1000}}) {
            if (batched) extents.insert(extents.begin(), 3);
            const auto problem = problem_of(kernel, extents, GetParam().layout);
            const auto binary = binary_of(compiler->compile(program_of(kernel, configuration, problem)));
            std::vector<std::byte> bits;
            for (const auto& options : {BackendOptions{.seed = 1, .threads = 2}, {.seed = 2, .threads = 1}}) {
                SCOPED_TRACE(to_text(problem) + " " + how);
                const auto backend = open_host(options);
                auto device = backend->device();
                device.multiprocessors = 132;  // SPLIT_K=0 fills all of them
                const auto launch = launch_of(kernel, configuration, problem, device);
                const auto loaded = load(*backend, binary, launch);
                EXPECT_EQ(Testbed(*backend, kernel.operation, problem, tools, 5)
                              .verify(ConfiguredKernel(loaded, launch))
                              .wrong,
                          std::nullopt);
                ExactOperands operands(*backend, kernel.operation, problem, kernel.operation.checks.front(), false);
                for (int again = 0; again < 2; ++again) {
                    operands.run(*loaded, launch);
                    if (bits.empty()) bits = operands.bits();
                    EXPECT_TRUE(operands.bits() == bits) << "seed " << options.seed << ", run " << again;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SplitK,
                         testing::Values(Laid{"warp_tiled", "nn"}, Laid{"warp_tiled", "nt"}, Laid{"warp_tiled", "tn"},
                                         Laid{"batched_warp_tiled", "tt"}),
                         name_of);

class Batches : public Correctness {};

TEST_P(Batches, AreRightFromOneMatrixToMoreThanAGridHasRows) {
    const auto backend = open_host({.seed = 3});
    auto device = backend->device();
    device.grid_y = 7;  // a small limit, so that a few matrices already exceed it
    const auto tools = compile_testbed(*compiler, kernel, problem_of(kernel, {1, 1, 1}, GetParam().layout));
    for (const auto& extents :
         std::vector<std::vector<std::int64_t>>{{1, 33, 17, 65}, {2, 1, 1, 1}, {7, 3, 70, 5}, {130, 5, 4, 9}}) {
        const auto problem = problem_of(kernel, extents, GetParam().layout);
        Testbed testbed(*backend, kernel.operation, problem, tools, 5);
        for (const auto& configuration : configurations_of(kernel, problem, 2)) {
            SCOPED_TRACE(to_text(problem) + " " + to_text(configuration));
            const auto launch = launch_of(kernel, configuration, problem, device);
            ASSERT_EQ(broken_limit(launch, device), std::nullopt);
            const auto compiled = pool.submit(program_of(kernel, configuration, problem));
            const auto loaded = load(*backend, binary_of(compiled.get()), launch);
            EXPECT_EQ(testbed.verify(ConfiguredKernel(loaded, launch)).wrong, std::nullopt);
        }
    }
}

TEST_P(Batches, OfAsManyMatricesAsAnIntHoldsCanBeLaunched) {
    const auto problem = problem_of(kernel, {2147483647, 128, 128, 128}, GetParam().layout);
    EXPECT_EQ(infeasibility(kernel, default_configuration(kernel), problem, host_device()), std::nullopt);
}

std::vector<Laid> batched() {
    auto all = builtins_in_every_layout();
    std::erase_if(all, [](const Laid& each) { return builtin(each.kernel).operation.name != "batched_gemm"; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Templates, Batches, testing::ValuesIn(batched()), name_of);
INSTANTIATE_TEST_SUITE_P(Templates, Correctness, testing::ValuesIn(builtins_in_every_layout()), name_of);

}  // namespace
}  // namespace smemtune
