#include "tuner/portfolio/model/cross_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smemtune {
namespace {

// Twenty problems, x = 0 to 19. At problem x, configuration 0 takes 10 + x us and configuration 1 takes 30 - x us.
// Configuration 0 is faster at the first ten problems.
CrossTimes crossing() {
    CrossTimes times;
    times.groups = {0, 0};
    times.found.resize(2);
    for (std::size_t x = 0; x < 20; ++x) {
        times.counts.push_back(1);
        times.places.push_back({static_cast<double>(x)});
        const auto at = static_cast<double>(x);
        times.cells.push_back({{.us = 10 + at, .terms = {1, at}}, {.us = 30 - at, .terms = {1, 0, 20 - at}}});
        times.found[x < 10 ? 0 : 1].push_back(x);
    }
    times.won = times.found;
    return times;
}

TEST(CheckLeftOut, ModelsThatAreRightLoseNothing) {
    const auto result = check_left_out(crossing(), 2);
    ASSERT_EQ(result.size(), 20);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(result[i].problem, i);
        EXPECT_NEAR(result[i].predicted.value(), 0, 1e-9) << i;
        EXPECT_EQ(result[i].best_member, 0.0);
    }
    EXPECT_GT(result[9].one_for_all.value() + result[11].one_for_all.value(), 0);
}

TEST(CheckLeftOut, AModelThatErrsMoreMustPromiseMore) {
    auto times = crossing();
    times.groups.push_back(1);
    times.found.push_back({0});
    times.won.emplace_back();
    for (std::size_t x = 0; x < 20; ++x) {  // no term predicts at which problems the added configuration is fast
        const auto at = static_cast<double>(x);
        times.cells[x].push_back({.us = x % 4 < 2 ? std::min(10 + at, 30 - at) - 1 : 300, .terms = {1}});
    }
    for (const auto& left_out : check_left_out(times, 3)) EXPECT_LT(left_out.predicted.value(), 0.2);
}

TEST(CheckLeftOut, AConfigurationThatWonOnlyAtTheLeftOutProblemIsUnknown) {
    auto times = crossing();
    times.groups.push_back(0);
    times.found.push_back({7});
    times.won.emplace_back();
    for (std::size_t x = 0; x < 20; ++x) times.cells[x].push_back({.us = 8, .terms = {1}});
    const auto result = check_left_out(times, 3);
    EXPECT_EQ(result[6].best_member, 0.0);
    EXPECT_NEAR(result[7].best_member.value(), 17.0 / 8 - 1, 1e-9) << "the others take 17 where it takes 8";
}

TEST(CheckLeftOut, NearestIsTheWinnerOfTheNearestProblemWhereItRuns) {
    auto times = crossing();
    times.cells[2][0].us = 0;  // configuration 0 does not run at problem 2
    const auto result = check_left_out(times, 1);
    EXPECT_EQ(result[4].nearest, 0.0);
    EXPECT_EQ(result[2].nearest, 0.0) << "the other configuration is the best that runs";
    EXPECT_EQ(result[15].nearest, 0.0);
}

// Members that are given in advance also get models that are fitted without the left-out problem.
TEST(CheckLeftOut, MembersThatStayAreChosenAmongByModelsThatDoNotKnowTheProblem) {
    auto times = crossing();
    for (const auto& left_out : check_left_out(times, 1, {0, 1})) EXPECT_NEAR(left_out.same_members.value(), 0, 1e-9);
    for (const auto& left_out : check_left_out(times, 2, {1})) {
        const auto at = static_cast<double>(left_out.problem);
        EXPECT_NEAR(left_out.same_members.value(), std::max(0.0, (30 - at) / (10 + at) - 1), 1e-9);
    }
    times.cells[3][1].us = 1;  // a time that no fitted model predicts
    EXPECT_NEAR(check_left_out(times, 2, {0, 1})[3].same_members.value(), 12, 1e-9);
    for (const auto& left_out : check_left_out(times, 2)) EXPECT_FALSE(left_out.same_members) << "there are none";
}

TEST(CheckLeftOut, WhereNoMemberRunsNothingIsServed) {
    auto times = crossing();
    times.cells[3][0].us = 0;
    const auto result = check_left_out(times, 1);
    EXPECT_EQ(result[3].predicted.has_value(), result[3].one_for_all.has_value());
    for (auto& row : times.cells) row[1].us = 0;
    EXPECT_FALSE(check_left_out(times, 2).size() == 20) << "a problem where nothing runs is left out";
}

}  // namespace
}  // namespace smemtune
