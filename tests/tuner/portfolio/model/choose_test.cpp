#include "tuner/portfolio/model/choose.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

// Makes a table with a row of times (us) for each problem and a column for each configuration. A time of 0 means that
// the configuration does not run.
CrossTimes table(const std::vector<std::vector<double>>& us) {
    CrossTimes times;
    times.counts.assign(us.size(), 1);
    times.groups.assign(us.front().size(), 0);
    times.found.resize(us.front().size());
    times.won.resize(us.front().size());
    for (const auto& row : us) {
        auto& cells = times.cells.emplace_back();
        for (const auto each : row) cells.push_back({.us = each, .terms = {1}});
    }
    return times;
}

using Members = std::vector<std::size_t>;

TEST(ChooseMembers, TakesWhatLowersTheMeanLossTheMostAndThenWhatComplementsIt) {
    // Configuration 0 is good at all problems. Configuration 1 is the best at the first two problems, configuration 2
    // at the third problem, and configuration 3 at none.
    const auto times = table({{12, 10, 50, 13}, {12, 10, 50, 13}, {12, 50, 10, 13}});
    EXPECT_EQ(choose_members(times, {0, 1, 2}, {0, 1, 2, 3}, 1), Members{0});
    EXPECT_EQ(choose_members(times, {0, 1, 2}, {0, 1, 2, 3}, 3), (Members{0, 1, 2}));
    EXPECT_EQ(choose_members(times, {0, 1, 2}, {0, 1, 2, 3}, 9), (Members{0, 1, 2})) << "3 gains nothing";
    EXPECT_EQ(choose_members(times, {2}, {0, 1, 2, 3}, 1), Members{2});
    EXPECT_EQ(choose_members(times, {0, 1, 2}, {1, 3}, 1), Members{3});
}

TEST(ChooseMembers, ProblemsThatAreAskedForMoreOftenCountMore) {
    auto times = table({{10, 20}, {20, 10}});
    EXPECT_EQ(choose_members(times, {0, 1}, {0, 1}, 1), Members{0}) << "a tie goes to the first";
    times.counts = {1, 3};
    EXPECT_EQ(choose_members(times, {0, 1}, {0, 1}, 1), Members{1});
}

TEST(ChooseMembers, AConfigurationThatRunsAtMoreProblemsIsWorthALoss) {
    const auto times = table({{10, 15}, {0, 15}, {0, 15}});
    EXPECT_EQ(choose_members(times, {0, 1, 2}, {0, 1}, 1), Members{1});
}

TEST(ChooseMembers, AProblemWhereNothingRunsIsIgnored) {
    const auto times = table({{0, 0}, {5, 6}});
    EXPECT_EQ(choose_members(times, {0, 1}, {0, 1}, 2), Members{0});
    EXPECT_EQ(choose_members(times, {0}, {0, 1}, 2), Members{});
}

TEST(PairsNearby, EachConfigurationIsTimedNearWhereItWasFoundWhereItIsValid) {
    auto times = table({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
    times.places = {{0}, {1}, {3}, {7}};
    times.found = {{0}, {3}, {0, 3}};
    times.cells[2][1].terms = {};  // configuration 1 is not valid at problem 2
    const Members all{0, 1, 2, 3};
    EXPECT_EQ(pairs_nearby(times, all, 1), (std::vector<Members>{{0, 2}, {}, {}, {1}}));
    EXPECT_EQ(pairs_nearby(times, all, 2), (std::vector<Members>{{0, 2}, {0, 1}, {}, {1, 2}}))
        << "the first that is found nearby comes first";
    EXPECT_EQ(pairs_nearby(times, all, 9)[2], (Members{0, 2}));
    times.found[0] = {};
    EXPECT_EQ(pairs_nearby(times, Members{1, 0, 2, 3}, 1), (std::vector<Members>{{2}, {0}, {}, {1}}))
        << "0 was found nowhere, so it is timed at the first problem";
}

// Configuration 0 takes 10 us, configuration 1 takes 20 us, and configuration 2 takes 12 us, at every problem.
// Configuration 2 is not valid at problem 3.
TEST(PairsPredicted, AreTheFastestByTheModelsEvenWhereTheyWereNotTimed) {
    auto times = table({{10, 20, 12}, {10, 20, 12}, {0, 20, 12}, {0, 0, 0}});
    times.places = {{0}, {1}, {2}, {3}};
    times.groups = {0, 1, 2};
    times.cells[3][2].terms = {};
    EXPECT_EQ(pairs_predicted(times, Members{2, 3}, {0, 1, 2}, 2, 1.5), (std::vector<Members>{{}, {}, {0, 2}, {0}}));
    EXPECT_EQ(pairs_predicted(times, Members{2}, {0, 1, 2}, 1, 1.5)[2], Members{0});
    EXPECT_EQ(pairs_predicted(times, Members{2}, {1, 2}, 9, 3)[2], (Members{2, 1}));
    for (auto& row : times.cells) row.push_back({.us = 0, .terms = {1}});
    times.groups.push_back(3);
    times.found.emplace_back();
    times.won.emplace_back();
    EXPECT_EQ(pairs_predicted(times, Members{2}, {0, 1, 2, 3}, 2, 1.5)[2], (Members{0, 2})) << "3 has no time";
}

}  // namespace
}  // namespace smemtune
