#include "templates/predict/bound_launch.h"

#include <gtest/gtest.h>

#include <random>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

KernelTemplate built_in(const std::string& name) {
    for (auto& kernel : load_templates(builtin_sources())) {
        if (kernel.name == name) return kernel;
    }
    throw std::runtime_error(name);
}

double term(const Terms& terms, Term which) { return terms[static_cast<std::size_t>(which)]; }

TEST(BoundLaunch, IsValidExactlyWhereTheConfigurationIsFeasible) {
    const auto kernel = built_in("warp_tiled");
    const auto device = model_device("sm_90");
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int64_t> any(1, 400);
    const auto extent = [&] { return any(random) * (random() % 2 == 0 ? 1 : 4); };
    std::vector<Configuration> configurations;
    for (const auto* changes :
         {"STAGES=3", "VECTOR_A=4", "VECTOR_B=4", "BLOCK_M=32,BLOCK_N=32,THREAD_M=4,THREAD_N=4",
          "BLOCK_M=256,BLOCK_N=128,BLOCKS_PER_SM=1", "BLOCK_K=32,STAGES=8", "CLUSTER_K=2", "CLUSTER_K=4,BLOCK_K=16",
          "SPLIT_K=2", "SPLIT_K=8", "SPLIT_K=16,CLUSTER_K=2", "BLOCKS_PER_SM=4", "ASYNC=0"}) {
        configurations.push_back(completed(parse_configuration(changes), default_configuration(kernel)));
    }
    int valid = 0;
    int invalid = 0;
    for (const auto& configuration : configurations) {
        const BoundLaunch bound(kernel, configuration, device, gemm(1, 1, 1));
        for (int i = 0; i < 60; ++i) {
            const auto problem = gemm(extent(), extent(), extent());
            const bool feasible = !infeasibility(kernel, configuration, problem, device);
            ++(feasible ? valid : invalid);
            EXPECT_EQ(bound.terms(problem).has_value(), feasible) << to_text(configuration) << to_text(problem);
        }
    }
    EXPECT_GT(valid, 100);
    EXPECT_GT(invalid, 100);
}

TEST(BoundLaunch, CountsWavesAndTheBlocksOfTheBusiestMultiprocessor) {
    auto device = model_device("sm_90");
    device.multiprocessors = 4;  // two blocks of 1024 threads on each: a wave is 8 blocks
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1));
    const auto terms = [&](std::int64_t blocks) { return bound.terms(gemm(blocks * 32, 32, 512)).value(); };
    const auto expect = [&](std::int64_t blocks, double waves, double busiest) {
        EXPECT_EQ(term(terms(blocks), Term::waves), waves) << blocks;
        EXPECT_EQ(term(terms(blocks), Term::blocks), busiest) << blocks;
        EXPECT_EQ(term(terms(blocks), Term::launch), 1);
    };
    expect(1, 1, 1);
    expect(4, 1, 1);
    expect(5, 1, 2);
    expect(8, 1, 2);
    expect(9, 2, 3);
    expect(16, 2, 4);
    const auto one = terms(1);
    const auto five = terms(5);
    EXPECT_DOUBLE_EQ(term(five, Term::arithmetic), 2 * term(one, Term::arithmetic));
    EXPECT_DOUBLE_EQ(term(five, Term::loads), 2 * term(one, Term::loads));
    EXPECT_DOUBLE_EQ(term(terms(9), Term::latency), 2 * term(one, Term::latency));
}

TEST(BoundLaunch, ArithmeticIsWhatThePeakAllows) {
    const auto device = model_device("sm_90");
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1));
    // A whole number of waves: 66 x 4 tiles of 32 x 32 are two blocks on each of 132 multiprocessors.
    const auto terms = bound.terms(gemm(66 * 32, 4 * 32, 1024)).value();
    EXPECT_NEAR(term(terms, Term::arithmetic), 2.0 * 66 * 32 * 4 * 32 * 1024 / peak_fp32_flops(device) * 1e6, 1e-6);
    EXPECT_DOUBLE_EQ(term(terms, Term::memory), (66 * 32 * 1024 + 1024 * 4 * 32 + 66 * 32 * 4 * 32) * 4 / 4e6);
}

TEST(BoundLaunch, TheCompilersRegistersDecideHowManyBlocksAreResident) {
    auto device = model_device("sm_90");
    device.multiprocessors = 1;
    const auto waves = [&](std::int64_t registers) {
        const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1), {registers, 8192});
        return term(bound.terms(gemm(4 * 32, 32, 64)).value(), Term::waves);
    };
    EXPECT_EQ(waves(32), 2);
    EXPECT_EQ(waves(64), 4) << "65,536 registers hold one block of 1,024 threads";
}

TEST(BoundLaunch, AWorkspaceIsATerm) {
    const auto kernel = built_in("warp_tiled");
    const auto device = model_device("sm_90");
    const auto problem = gemm(128, 64, 8192);
    const auto configuration = completed(parse_configuration("SPLIT_K=64"), default_configuration(kernel));
    ASSERT_EQ(infeasibility(kernel, configuration, problem, device), std::nullopt);
    const auto launch = launch_of(kernel, configuration, problem, device);
    const BoundLaunch bound(kernel, configuration, device, gemm(1, 1, 1));
    EXPECT_GT(launch.workspace->bytes, 0);
    EXPECT_DOUBLE_EQ(term(bound.terms(problem).value(), Term::workspace),
                     static_cast<double>(launch.workspace->bytes) / 4e6);
}

TEST(BoundLaunch, ATemplateOfAnyOperationHasTerms) {
    const auto kernel = built_in("tiled_transpose");
    const Problem problem{"transpose", "f32", "", {{"M", 1000}, {"N", 500}}};
    const auto device = model_device("sm_90");
    const BoundLaunch bound(kernel, default_configuration(kernel), device, problem);
    const auto terms = bound.terms(problem);
    ASSERT_TRUE(terms);
    EXPECT_DOUBLE_EQ(term(*terms, Term::memory), 2 * 1000 * 500 * 4 / 4e6);
    EXPECT_GT(term(*terms, Term::blocks), 0);
}

TEST(BoundLaunch, AProblemWithOtherExtentsIsNotValidAndTheExtentsOfTheFirstOneDoNotMatter) {
    const Problem other{"gemm", "f32", "nn", {{"M", -1}}};
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, model_device("sm_90"), other);
    EXPECT_EQ(bound.terms(other), std::nullopt);
    EXPECT_EQ(bound.terms({"gemm", "f32", "nn", {{"M", 8}, {"K", 8}, {"N", 8}}}), std::nullopt);
    EXPECT_TRUE(bound.terms(gemm(8, 8, 8)));
}

TEST(BoundExpression, KnowsItsValueUnlessItNamesAnExtent) {
    const std::vector<std::string> extents{"M", "N"};
    const Problem problem{"any", "f32", "", {{"M", 7}, {"N", 3}}};
    const auto value = [&](const char* text) {
        return BoundExpression(Expression(text), {{"TILE", 4}, {"M", 1000}}, extents).evaluate(problem);
    };
    EXPECT_EQ(value("TILE * 2"), 8);
    EXPECT_EQ(value("ceil_div(M, TILE) * N + M"), 13);
    EXPECT_THROW(value("1 / (TILE - 4)"), ExpressionError);
    EXPECT_THROW(value("TILE / (N - 3)"), ExpressionError);
    EXPECT_THROW(value("UNKNOWN + M"), ExpressionError);
}

TEST(TimeModel, APredictionIsTheSumOfItsShares) {
    const TimeModel model{.coefficients = {2, 0, 3, 0, 0, 0, 0, 1}, .error = 0};
    const Terms terms{1, 7, 10, 1, 1, 1, 1, 4};
    EXPECT_EQ(model.shares(terms), (Terms{2, 0, 30, 0, 0, 0, 0, 4}));
    EXPECT_EQ(model.predicted_us(terms), 36);
}

}  // namespace
}  // namespace smemtune
