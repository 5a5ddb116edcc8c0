#include "tuner/bench/changes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"
#include "tuner/bench/bench_report.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Figure figure(const std::string& name, double ratio, double half_width) {
    return {name, ratio, ratio - half_width, ratio + half_width};
}

std::vector<std::string> names(const std::vector<Change>& changes) {
    std::vector<std::string> result;
    for (const auto& change : changes) result.push_back(change.now.name);
    return result;
}

TEST(Changes, AreRatiosWhoseIntervalsDoNotMeet) {
    const std::vector<Figure> before{figure("same", 1.1, 0.01), figure("within", 1.1, 0.02), figure("fell", 1.1, 0.01),
                                     figure("rose", 1.1, 0.01)};
    const std::vector<Figure> now{figure("same", 1.1, 0.01), figure("within", 1.07, 0.02), figure("fell", 1.07, 0.01),
                                  figure("rose", 1.2, 0.01)};
    const auto found = changes(before, now);
    EXPECT_EQ(found.compared, 4U);
    EXPECT_THAT(names(found.fallen), ElementsAre("fell"));
    EXPECT_THAT(names(found.risen), ElementsAre("rose"));
    EXPECT_THAT(found.missing, IsEmpty());
}

TEST(Changes, OfLessThanHalfAPercentAreNoiseHoweverNarrowTheIntervals) {
    const auto found = changes({figure("a", 1.000, 1e-5), figure("b", 1.000, 1e-5)},
                               {figure("a", 0.996, 1e-5), figure("b", 0.994, 1e-5)});
    EXPECT_THAT(names(found.fallen), ElementsAre("b"));
}

TEST(Changes, TheWorstComeFirst) {
    const auto found = changes({figure("a", 1.0, 0), figure("b", 1.0, 0), figure("c", 1.0, 0), figure("d", 1.0, 0)},
                               {figure("a", 0.9, 0), figure("b", 0.8, 0), figure("c", 1.1, 0), figure("d", 1.2, 0)});
    EXPECT_THAT(names(found.fallen), ElementsAre("b", "a"));
    EXPECT_THAT(names(found.risen), ElementsAre("d", "c"));
}

TEST(Changes, WhatIsGoneIsToldAndWhatIsNewIsNot) {
    const auto found = changes({figure("gone", 1, 0)}, {figure("new", 1, 0)});
    EXPECT_EQ(found.compared, 0U);
    EXPECT_THAT(found.missing, ElementsAre("gone"));
    EXPECT_THAT(to_text(found), HasSubstr("1 earlier ratios were not measured now, such as gone"));
}

TEST(Changes, AreToldInOneLineEach) {
    EXPECT_EQ(to_text(changes({figure("a", 1, 0)}, {figure("a", 1, 0)})),
              "1 ratios compared: 0 fell and 0 rose by more than noise\n");
    EXPECT_EQ(
        to_text(changes({figure("gemm, cold, cublas", 1.05, 0.005)}, {figure("gemm, cold, cublas", 1.008, 0.001)})),
        "1 ratios compared: 1 fell and 0 rose by more than noise\n"
        "  FELL -4.0 %: gemm, cold, cublas: 1.008 (1.007..1.009), was 1.050 (1.045..1.055)\n");
}

ProblemBench measured(const Problem& problem, const std::string& competitor, double ratio) {
    ProblemBench result{.problem = problem, .stored = true};
    const Ratio interval{.median = ratio, .low = ratio - 0.25, .high = ratio + 0.25, .ours_us = 1, .theirs_us = 1};
    result.caches.push_back({.cache = Cache::warm,
                             .comparisons = {{.competitor = competitor, .ratio = interval},
                                             {.competitor = "none", .why_not = "it computes none"}}});
    return result;
}

TEST(Changes, TheFiguresOfAReportAreThoseOfItsJson) {
    const BenchReport report{.problems = {measured(gemm(4, 5, 6), "cublas", 1.5), {.problem = gemm(7, 7, 7)}}};
    for (const auto& figures : {figures_of(report.problems), figures_of(to_json(report))}) {
        ASSERT_EQ(figures.size(), 1U);
        EXPECT_EQ(figures[0].name, "gemm f32 nn 4x5x6, warm, cublas");
        EXPECT_EQ(std::tuple(figures[0].ratio, figures[0].low, figures[0].high), std::tuple(1.5, 1.25, 1.75));
    }
}

// The report has the form of early reports, which lack the field `schema`.
TEST(Changes, AFileFromBeforeTheSchemaHadAVersionIsRead) {
    const auto old = nlohmann::json::parse(R"({"benchmark": "bench", "problems": [
        {"problem": {"operation": "gemm", "type": "f32", "layout": "nn", "extents": [["M", 4], ["N", 5], ["K", 6]]},
         "stored": true, "what": "warp_tiled ASYNC=1,A_FIRST=0",
         "caches": {"cold": {"median_us": 9.7, "against": {
            "cublas": {"what": "cublasSgemm", "ratio": 1.5, "interval": [1.25, 1.75]},
            "cublaslt": {"why_not": "it proposes nothing"}}}}}]})");
    const auto figures = figures_of(old);
    ASSERT_EQ(figures.size(), 1U);
    EXPECT_EQ(figures[0].name, "gemm f32 nn 4x5x6, cold, cublas");
    EXPECT_EQ(figures[0].ratio, 1.5);
}

TEST(Changes, OtherJsonIsRefused) {
    for (const auto* text : {"{}", "[]", "3", R"({"problems": [{"caches": {"cold": {}}}]})", "nonsense"}) {
        const auto json = nlohmann::json::parse(text, nullptr, false);
        EXPECT_THAT(complaint([&] { (void)figures_of(json); }), HasSubstr("not what 'smemtune bench --json' writes"))
            << text;
    }
}

}  // namespace
}  // namespace smemtune
