#include "tuner/playoff.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

// A finalist, and the baseline that its winner is compared with.
Playoff sole_finalist(double launch_us) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal player{.compiled = compiled.get_future().share()};
    return {{player, player}, 1, std::size_t{1}, {.launch_us = launch_us}};
}

TEST(Playoff, ComparesTheWinnerWithTheBaselineInSeveralRounds) {
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

TEST(Playoff, ComparesLaunchesThatLastLongOnce) {
    auto playoff = sole_finalist(43'000);
    const auto task = playoff.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->rounds, 1);
}

}  // namespace
}  // namespace smemtune
