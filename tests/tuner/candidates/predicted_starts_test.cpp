#include "tuner/candidates/predicted_starts.h"

#include <gmock/gmock.h>

#include <set>

#include "templates/launch/limits.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::IsEmpty;

class PredictedStarts : public ::testing::Test {
protected:
    std::map<std::string, std::vector<Configuration>> at(const Problem& problem, const Device& device) {
        std::vector<PlannedSpace> templates;
        for (const auto& kernel : kernels) {
            if (supports(kernel, problem, device)) templates.push_back({.kernel_template = &kernel});
        }
        return predicted_starts(problem, device, templates);
    }

    std::vector<Transferred> fastest_at(const std::vector<Problem>& problems) {
        return predicted_fastest(problems, hopper, kernels);
    }

    std::vector<KernelTemplate> kernels = builtin_templates();
    Device hopper = model_device("sm_90");
};

TEST_F(PredictedStarts, AreAFewValidConfigurationsOfTheTemplatesThatKeepUp) {
    for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
        const auto problem = gemm(4096, 4096, 4096, "f32", layout);
        const auto starts = at(problem, hopper);
        ASSERT_EQ(starts.count("warp_tiled"), 1U) << layout;
        EXPECT_EQ(starts.at("warp_tiled").size(), 3U) << layout;
        EXPECT_EQ(starts.count("skinny"), 0U) << layout << ": it computes no such product, or slowly";
        const auto kernel = std::ranges::find(kernels, "warp_tiled", &KernelTemplate::name);
        for (const auto& each : starts.at("warp_tiled")) {
            EXPECT_EQ(infeasibility(*kernel, each, problem, hopper), std::nullopt) << to_text(each);
        }
    }
}

TEST_F(PredictedStarts, OfANarrowProductAreOfTheTemplateForIt) {
    const auto starts = at(gemm(4096, 16, 4096), hopper);
    ASSERT_EQ(starts.count("skinny"), 1U);
    EXPECT_FALSE(starts.at("skinny").empty());
    EXPECT_TRUE(starts.at("warp_tiled").empty()) << "its members are predicted to be far behind";
}

TEST_F(PredictedStarts, OfBf16AreOfTensorCores) {
    const auto starts = at(gemm(4096, 4096, 4096, "bf16"), hopper);
    ASSERT_EQ(starts.count("wgmma_tiled"), 1U);
    EXPECT_FALSE(starts.at("wgmma_tiled").empty());
    EXPECT_EQ(starts.count("warp_tiled"), 0U) << "it computes f32 alone";
}

TEST_F(PredictedStarts, OfOtherLayoutsAreThoseOfTheMostSimilarPortfolio) {
    for (const auto& [type, layout] : {std::pair{"f16", "tt"}, {"bf16", "nt"}, {"bf16", "tt"}}) {
        const auto problem = gemm(4096, 2048, 1024, type, layout);
        const auto starts = at(problem, hopper);
        ASSERT_EQ(starts.count("wgmma_tiled"), 1U) << to_text(problem);
        EXPECT_FALSE(starts.at("wgmma_tiled").empty()) << to_text(problem);
        const auto kernel = std::ranges::find(kernels, "wgmma_tiled", &KernelTemplate::name);
        for (const auto& each : starts.at("wgmma_tiled")) {
            EXPECT_EQ(infeasibility(*kernel, each, problem, hopper), std::nullopt) << to_text(each);
        }
    }
    const auto of_f32 = at(gemm(4096, 4096, 4096, "f32", "tn"), hopper);
    EXPECT_NE(of_f32, at(gemm(4096, 4096, 4096, "f32", "nn"), hopper)) << "each layout of f32 has its own portfolio";
}

TEST_F(PredictedStarts, LayoutDecidesBeforeTypeAndTypeBeforeDevice) {
    auto fewer = hopper;
    fewer.multiprocessors /= 2;
    const auto portfolio = [&](const std::string& type, const std::string& layout, const Device& device,
                               const std::string& kernel = "k") {
        PortfolioText text{.device = device, .operation = "gemm", .type = type, .layout = layout};
        text.members.push_back({.kernel_template = kernel});
        return text;
    };
    const auto chosen = [&](const std::vector<PortfolioText>& portfolios) {
        const auto* const found = most_similar(portfolios, gemm(64, 64, 64, "f16", "tn"), hopper, {"k"});
        return found == nullptr ? -1 : static_cast<int>(found - portfolios.data());
    };
    EXPECT_EQ(chosen({portfolio("f16", "nn", hopper), portfolio("bf16", "tn", fewer)}), 1);
    EXPECT_EQ(chosen({portfolio("bf16", "tn", hopper), portfolio("f16", "tn", fewer)}), 1);
    EXPECT_EQ(chosen({portfolio("f16", "tn", fewer), portfolio("f16", "tn", hopper)}), 1);
    EXPECT_EQ(chosen({portfolio("bf16", "nn", fewer)}), 0);
    EXPECT_EQ(chosen({portfolio("f32", "tn", hopper)}), -1) << "elements of another size";
    EXPECT_EQ(chosen({portfolio("f16", "tn", hopper, "other")}), -1) << "no template of the search";
    EXPECT_EQ(chosen({portfolio("f16", "tn", model_device("sm_80"))}), -1) << "another compute capability";
    EXPECT_EQ(chosen({}), -1);
}

TEST_F(PredictedStarts, ThereAreNoneWhereNoPortfolioIsShipped) {
    EXPECT_THAT(at(gemm(1024, 1024, 1024), model_device("sm_80")), IsEmpty()) << "another architecture";
    EXPECT_THAT(at(gemm(1024, 1024, 1024, "3xtf32"), hopper), IsEmpty()) << "no member is of its templates";
}

TEST_F(PredictedStarts, TheFastestComeFromThePortfoliosOfAllLayoutsAndRunAtTheirProblems) {
    const std::vector problems{gemm(4096, 4096, 4096, "f32", "tt"), gemm(4096, 16, 4096, "f32", "tt"),
                               gemm(200, 300, 5000, "f32", "tt")};
    const auto fastest = fastest_at(problems);
    std::vector<int> of_each_problem(problems.size());
    for (const auto& each : fastest) {
        EXPECT_TRUE(std::ranges::is_sorted(each.problems, std::ranges::less_equal{}) || each.problems.size() == 1);
        for (const auto i : each.problems) {
            ++of_each_problem[i];
            EXPECT_EQ(infeasibility(*each.kernel, each.configuration, problems[i], hopper), std::nullopt)
                << to_text(each.configuration);
        }
    }
    EXPECT_THAT(of_each_problem, ::testing::Each(::testing::Ge(2))) << "portfolios with different members";
}

// The portfolios of the H100 were measured before warp_tiled gained SPLIT_WAVES.
TEST_F(PredictedStarts, TheFastestHaveNewValuesOfParametersThatTheirPortfolioLacks) {
    std::vector<Problem> problems;
    for (const auto n : {5000, 7000, 9088, 11000}) problems.push_back(gemm(64, n, 6852, "f32", "nt"));
    const auto fastest = fastest_at(problems);
    const auto waves = [](const Transferred& each) {
        const auto value = each.configuration.values.find("SPLIT_WAVES");
        return value == each.configuration.values.end() ? 0 : value->second;
    };
    EXPECT_GT(std::ranges::count(fastest, 3, waves), 0);
    for (const auto& each : fastest) {
        if (each.kernel->name != "warp_tiled") continue;
        EXPECT_NE(waves(each), 0) << "every parameter has a value";
    }
}

// With SPLIT_WAVES=3, a member has the same launch as with SPLIT_WAVES=1 if one wave is the fastest.
TEST_F(PredictedStarts, DoNotContainALaunchTwice) {
    const auto problem = gemm(1248, 64, 10911, "f32", "nt");
    std::set<std::string> launches;
    const auto starts = at(problem, hopper);
    for (const auto& each : starts.at("warp_tiled")) {
        auto configuration = each;
        configuration.values.erase("SPLIT_WAVES");
        const auto kernel = std::ranges::find(kernels, "warp_tiled", &KernelTemplate::name);
        const auto launch = launch_of(*kernel, each, problem, hopper);
        EXPECT_TRUE(launches.insert(to_text(configuration) + " " + std::to_string(launch.grid[0])).second)
            << to_text(each);
    }
}

TEST_F(PredictedStarts, TheFastestOfSeveralPortfoliosOrProblemsIsThereOnce) {
    std::vector<Problem> problems;
    for (const auto size : {1000, 1500, 2000, 3000, 4096, 6000, 8192}) problems.push_back(gemm(size, size, size));
    const auto fastest = fastest_at(problems);
    std::set<std::string> texts;
    for (const auto& each : fastest) {
        EXPECT_TRUE(texts.insert(each.kernel->name + " " + to_text(each.configuration)).second);
        EXPECT_EQ(std::set(each.problems.begin(), each.problems.end()).size(), each.problems.size());
    }
    EXPECT_LT(fastest.size(), 4 * problems.size()) << "no configuration wins at two sizes or in two portfolios";
}

TEST_F(PredictedStarts, TheFastestOfAnotherLayoutNeedNotHaveBeenVerifiedForTheClassOfTheProblem) {
    // Members of nn that copy B as vectors need N to be a multiple of 4. In nt, the same copies need K to be a multiple
    // of 4. The test uses several sizes, because the members of the shipped portfolios change from time to time.
    std::vector<Problem> problems;
    for (const auto size : {501, 1001, 2001, 3001, 4001, 6001}) {
        for (const auto k : {200, 2000, 8000}) problems.push_back(gemm(size, size, k, "f32", "nt"));
    }
    const auto fastest = fastest_at(problems);
    EXPECT_THAT(fastest, ::testing::Contains(::testing::Truly([](const Transferred& each) {
                    return each.configuration.values.contains("VECTOR_B") &&
                           each.configuration.values.at("VECTOR_B") == 4;
                })));
}

TEST_F(PredictedStarts, MembersThatTheTemplateDoesNotHaveAreLeftOut) {
    const std::vector problems{gemm(4096, 4096, 4096)};
    auto& kernel = *std::ranges::find(kernels, "warp_tiled", &KernelTemplate::name);
    const auto count = [&] { return std::ranges::count(fastest_at(problems), &kernel, &Transferred::kernel); };
    ASSERT_GT(count(), 0);
    const auto parameters = kernel.parameters;
    std::erase_if(kernel.parameters, [](const Parameter& each) { return each.name == "STAGES"; });
    EXPECT_EQ(count(), 0) << "another parameter";
    kernel.parameters = parameters;
    std::ranges::find(kernel.parameters, "BLOCK_M", &Parameter::name)->values = {17};
    EXPECT_EQ(count(), 0) << "other values";
}

TEST_F(PredictedStarts, ThereAreNoFastestForOtherArchitecturesAndTemplates) {
    EXPECT_THAT(predicted_fastest(std::vector{gemm(512, 512, 512)}, model_device("sm_80"), kernels), IsEmpty());
    EXPECT_THAT(fastest_at({}), IsEmpty());
    const auto naive = std::ranges::find(kernels, "naive", &KernelTemplate::name);
    EXPECT_THAT(predicted_fastest(std::vector{gemm(512, 512, 512)}, hopper, {&*naive, 1}), IsEmpty());
}

}  // namespace
}  // namespace smemtune
