#include "tuner/replay/simulate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/tuner/support.h"
#include "tuner/search/search.h"

namespace smemtune {
namespace {

// Returns a landscape in which X = i costs `costs[i]`. A cost of 0 stands for a failure.
Landscape line(const std::vector<double>& costs) {
    Parameter parameter{.name = "X"};
    std::vector<Configuration> points;
    Landscape landscape{.objective = "ms"};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        parameter.values.push_back(static_cast<std::int64_t>(i));
        points.push_back({{{"X", static_cast<std::int64_t>(i)}}});
        landscape.costs.push_back(costs[i] > 0 ? std::optional(costs[i]) : std::nullopt);
    }
    landscape.space = std::make_shared<ParameterSpace>(std::vector{parameter}, points);
    return landscape;
}

ReplayResult walk(const std::vector<double>& costs, ReplayRequest request = {}) {
    request.search = "exhaustive";
    return replay(line(costs), request);
}

TEST(Simulate, CountsEvaluationsToEachFractionOfTheOptimum) {
    // The optimal cost is 1. A cost of 1.12 gives less than 90 % of the optimum's performance (1 / 1.12), 1.11 gives
    // more than 90 %, and 1.05 gives more than 95 %.
    const auto result = walk({0, 2, 1.12, 1.11, 0, 1.05, 1.02, 1});
    EXPECT_EQ(result.levels[0].median, 4) << "failures count";
    EXPECT_EQ(result.levels[1].median, 6);
    EXPECT_EQ(result.levels[2].median, 8);
    for (const auto& level : result.levels) EXPECT_EQ(level.never, 0U);
    EXPECT_EQ(result.evaluations, 8) << "and then the space was used up";
}

TEST(Simulate, AFractionIsReachedAtItExactly) { EXPECT_EQ(walk({1 / 0.95, 1}).levels[1].median, 1); }

TEST(Simulate, WhatWasNeverReachedIsInfiniteAndCounted) {
    const auto result = walk({4, 1.1, 1}, {.evaluations = 2, .repeats = 3});
    EXPECT_EQ(result.levels[0].median, 2);
    EXPECT_TRUE(std::isinf(result.levels[1].median));
    EXPECT_EQ(result.levels[1].never, 3U);
    EXPECT_EQ(result.levels[0].never, 0U);
}

TEST(Simulate, MeansTheFractionReachedAfterSomeEvaluations) {
    std::vector<double> costs(300, 4.0);
    costs[60] = 2;
    costs[250] = 1;
    const auto result = walk(costs);
    EXPECT_EQ(result.marks[0].evaluations, 50U);
    EXPECT_DOUBLE_EQ(result.marks[0].fraction, 0.25);
    EXPECT_DOUBLE_EQ(result.marks[1].fraction, 0.5);
    EXPECT_DOUBLE_EQ(result.marks[2].fraction, 0.5);
    EXPECT_TRUE(std::isnan(walk(costs, {.evaluations = 150}).marks[2].fraction)) << "nobody looked that far";
}

TEST(Simulate, BeforeTheFirstSuccessTheFractionIsZero) {
    std::vector<double> costs(120, 0);
    costs[80] = 1;
    const auto result = walk(costs);
    EXPECT_EQ(result.marks[0].fraction, 0);
    EXPECT_EQ(result.marks[1].fraction, 1);
    EXPECT_EQ(result.marks[2].fraction, 1) << "a space that is used up keeps what it gave";
}

std::vector<double> valley() {
    std::vector<double> costs;
    for (int i = 0; i < 400; ++i) costs.push_back(i % 7 == 3 ? 0 : 1 + std::abs(i - 170) / 50.0);
    return costs;
}

// Returns all results except the time that the search itself took.
std::vector<double> counts(const ReplayResult& result) {
    std::vector<double> all{result.evaluations};
    for (const auto& level : result.levels) all.insert(all.end(), {level.median, static_cast<double>(level.never)});
    for (const auto& mark : result.marks) all.push_back(mark.fraction);
    return all;
}

class Replay : public ::testing::TestWithParam<std::string> {};

TEST_P(Replay, DoesNotDependOnTheNumberOfThreads) {
    const auto landscape = line(valley());
    ReplayRequest request{.search = GetParam(), .evaluations = 200, .repeats = 5, .in_flight = 3};
    const auto alone = counts(replay(landscape, request));
    request.threads = 4;
    EXPECT_EQ(counts(replay(landscape, request)), alone);
}

TEST_P(Replay, TriesTheStartFirst) {
    ReplayRequest request{.search = GetParam(), .evaluations = 200, .repeats = 5};
    request.starts = {{{{"X", 170}}}};
    const auto result = replay(line(valley()), request);
    EXPECT_EQ(result.levels[2].median, 1);
    EXPECT_GT(result.us_per_evaluation, 0);
}

INSTANTIATE_TEST_SUITE_P(Simulate, Replay, ::testing::ValuesIn(search_names()),
                         [](const auto& name) { return name.param; });

TEST(Simulate, RepeatsHaveTheSeedsThatFollow) {
    const auto landscape = line(valley());
    ReplayRequest request{.search = "random", .evaluations = 400, .repeats = 1};
    std::vector<double> alone;
    for (; request.seed <= 5; ++request.seed) alone.push_back(replay(landscape, request).levels[2].median);
    std::ranges::sort(alone);
    EXPECT_LT(alone.front(), alone.back());
    EXPECT_EQ(replay(landscape, {.search = "random", .evaluations = 400, .repeats = 5}).levels[2].median, alone[2]);
}

TEST(Simulate, AskingAheadChangesNothingForASearchThatDoesNotLearn) {
    const auto one = walk(valley(), {.evaluations = 200, .repeats = 2});
    const auto ahead = walk(valley(), {.evaluations = 200, .repeats = 2, .in_flight = 64});
    EXPECT_EQ(counts(one), counts(ahead));
    EXPECT_EQ(ahead.evaluations, 200);
}

TEST(Simulate, OrdersByEvaluationsTo95PercentThenByWhatWasReached) {
    ReplayResult quick{.search = "quick"};
    quick.levels[1].median = 10;
    ReplayResult slow{.search = "slow"};
    slow.levels[1].median = 20;
    ReplayResult never{.search = "never"};
    never.levels[1].never = 4;
    ReplayResult rarely{.search = "rarely"};
    rarely.levels[1].never = 3;
    ReplayResult nearly = never;
    nearly.marks[2].fraction = 0.9;
    EXPECT_TRUE(better(quick, slow));
    EXPECT_FALSE(better(slow, quick));
    EXPECT_TRUE(better(slow, rarely));
    EXPECT_TRUE(better(rarely, never));
    EXPECT_TRUE(better(nearly, never));
    EXPECT_FALSE(better(never, never));
}

TEST(Simulate, AnUnknownSearchIsAnsweredWithTheKnownOnes) {
    EXPECT_THAT(complaint([] { replay(line({1}), {.search = "nope"}); }), ::testing::HasSubstr("known: "));
}

}  // namespace
}  // namespace smemtune
