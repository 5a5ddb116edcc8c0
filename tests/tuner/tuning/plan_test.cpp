#include "tuner/tuning/plan.h"

#include <gtest/gtest.h>

#include "templates/launch/estimate.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

TEST(Plan, IsTheSameWithManyThreadsAsWithOne) {
    TuneRequest request;
    for (const auto size : {64, 100, 128, 1000, 1024}) request.problems.push_back(gemm(size, size, size));
    request.templates = builtin_templates();
    std::erase_if(request.templates, [](const auto& kernel) { return kernel.name == "warp_tiled"; });
    const auto device = model_device("sm_90");
    const auto alone = plan(request, device);
    request.jobs = 8;
    const auto together = plan(request, device);
    ASSERT_EQ(alone.size(), request.problems.size());
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        ASSERT_EQ(together[i].size(), alone[i].size());
        EXPECT_GE(alone[i].size(), 7U);
        for (std::size_t j = 0; j < alone[i].size(); ++j) {
            EXPECT_EQ(together[i][j].kernel_template, alone[i][j].kernel_template);
            EXPECT_EQ(together[i][j].space->size(), alone[i][j].space->size());
        }
    }
}

TuneRequest exhaustive_search_of_tiled() {
    TuneRequest request;
    request.problems = {gemm(64, 64, 64)};
    request.templates = builtin_templates();
    std::erase_if(request.templates, [](const auto& kernel) { return kernel.name != "tiled"; });
    request.search = "exhaustive";
    return request;
}

// If at most 1000 configurations have too many threads per block, the space contains them, and each is later stored as
// rejected. If there are more, the space contains none of them.
TEST(Plan, HasWhatBreaksTheDevicesLimitsUnlessThatIsTooMuch) {
    auto request = exhaustive_search_of_tiled();
    request.templates.front().constraints.clear();
    auto& values = request.templates.front().parameters.front().values;
    values = {16};
    for (std::int64_t width = 33; width <= 1032; ++width) values.push_back(width);
    const auto device = model_device("sm_90");
    EXPECT_EQ(plan(request, device).front().front().space->size(), 1001U);
    values.push_back(1033);
    EXPECT_EQ(plan(request, device).front().front().space->size(), 1U);
}

// The template's own rule removes 1001 configurations. Two configurations remain. One of them exceeds a limit of the
// device. The space contains it, because there are at most 1000 such configurations.
TEST(Plan, DoesNotCountWhatTheTemplatesRulesRemoveAsBreakingTheDevicesLimits) {
    auto request = exhaustive_search_of_tiled();
    auto& kernel = request.templates.front();
    auto& width = kernel.parameters.front();
    kernel.constraints = {{Expression(width.name + " <= 33"), "wider tiles are not tried"}};
    width.values = {16, 33};
    for (std::int64_t value = 34; value <= 1034; ++value) width.values.push_back(value);
    EXPECT_EQ(plan(request, model_device("sm_90")).front().front().space->size(), 2U);
}

TEST(Plan, BeginsWithTheTemplateThatReusesTheMost) {
    TuneRequest request;
    request.problems = {gemm(1024, 1024, 1024)};
    request.templates = builtin_templates();
    std::erase_if(request.templates, [](const auto& kernel) { return kernel.name == "warp_tiled"; });
    const auto device = model_device("sm_90");
    std::vector<double> reuse;
    const auto spaces = plan(request, device);
    for (const auto& planned : spaces.front()) {
        const auto& kernel = *planned.kernel_template;
        reuse.push_back(model_values(kernel, default_configuration(kernel), request.problems.front(), device)
                            .operations_per_load());
    }
    EXPECT_TRUE(std::ranges::is_sorted(reuse, std::ranges::greater{}));
    EXPECT_GT(reuse.front(), reuse.back());
}

TEST(Plan, ThatFailsForOneSpaceFails) {
    TuneRequest request;
    request.problems = {gemm(64, 64, 64), gemm(65, 65, 65)};
    request.templates = builtin_templates();
    std::erase_if(request.templates, [](const auto& kernel) { return kernel.name != "tiled"; });
    request.templates.front().constraints.push_back({Expression("1 / (65 - M) < 2"), "fails at 65"});
    request.jobs = 2;
    EXPECT_THROW((void)plan(request, model_device("sm_90")), ExpressionError);
}

}  // namespace
}  // namespace smemtune
