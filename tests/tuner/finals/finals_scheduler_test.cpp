#include "tuner/finals/finals_scheduler.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

// A finalist, and the baseline that its winner is compared with.
FinalsScheduler sole_finalist(double launch_us, std::vector<Measurement> known = {}) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal player{.compiled = compiled.get_future().share()};
    return {{player, player}, 1, std::size_t{1}, {.launch_us = launch_us, .known = std::move(known)}};
}

TEST(FinalsScheduler, ComparesTheWinnerWithTheBaselineInSeveralRounds) {
    auto playoff = sole_finalist(100);
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->purpose, FinalTask::Purpose::compare);
    EXPECT_EQ(task->players, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(task->rounds, 3);
    EXPECT_FALSE(playoff.next());
    playoff.finish(*task, std::vector<Outcome>{Measurement{.median_us = 100, .samples_us = {100, 101, 99}},
                                               Measurement{.median_us = 400, .samples_us = {400, 399, 401}}});
    ASSERT_TRUE(playoff.is_over());
    EXPECT_EQ(playoff.winner(), 0);
    EXPECT_EQ(std::get<Measurement>(playoff.outcomes().at(1)).median_us, 400);
}

TEST(FinalsScheduler, ComparesLaunchesThatLastLongOnce) {
    auto playoff = sole_finalist(43'000);
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->rounds, 1);
}

// The search's samples are worth more than one, and what was cut short is worth less.
TEST(FinalsScheduler, ASingleSampleReplacesNoneOfMore) {
    const Measurement searched{.median_us = 43'000, .spread_us = 20, .samples_us = {43'000, 42'990, 43'020}};
    auto cut = searched;
    cut.cut_short = true;
    auto playoff = sole_finalist(43'000, {searched, cut});
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    const Measurement once{.median_us = 44'000, .samples_us = {44'000}, .energy_uj = 7};
    playoff.finish(*task, std::vector<Outcome>{once, once});
    auto expected = searched;
    expected.energy_uj = 7;
    EXPECT_EQ(std::get<Measurement>(playoff.outcomes().at(0)), expected) << "but for what was unknown";
    EXPECT_EQ(std::get<Measurement>(playoff.outcomes().at(1)), once);
}

TEST(FinalsScheduler, AsManySamplesReplaceThoseOfTheSearch) {
    const Measurement searched{.median_us = 100, .spread_us = 1, .samples_us = {100, 101, 99}};
    auto playoff = sole_finalist(100, {searched, searched});
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    playoff.finish(*task, std::vector<Outcome>{Measurement{.median_us = 90, .samples_us = {90, 91, 89}},
                                               Measurement{.median_us = 400, .samples_us = {400, 399, 401}}});
    EXPECT_EQ(std::get<Measurement>(playoff.outcomes().at(0)).median_us, 90);
    EXPECT_EQ(std::get<Measurement>(playoff.outcomes().at(1)).median_us, 400);
}

TEST(FinalsScheduler, EnergyThatIsNotCountedAnewStays) {
    const Measurement searched{.median_us = 100, .spread_us = 1, .samples_us = {100, 101, 99}, .energy_uj = 30};
    auto playoff = sole_finalist(100, {searched, searched});
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    const Measurement anew{.median_us = 90, .samples_us = {90, 91, 89}};
    playoff.finish(*task, std::vector<Outcome>{anew, anew});
    const auto& outcome = std::get<Measurement>(playoff.outcomes().at(0));
    EXPECT_EQ(outcome.median_us, 90);
    EXPECT_EQ(outcome.energy_uj, 30);
}

}  // namespace
}  // namespace smemtune
