#include "tuner/search/adaptive_search.h"

#include <gmock/gmock.h>

#include <numeric>

namespace smemtune {
namespace {

TEST(UntriedPoints, IsDrawnFromUntilNothingIsLeft) {
    UntriedPoints untried(100);
    std::mt19937_64 random(1);
    std::vector<std::size_t> drawn;
    while (untried.size() > 0) {
        drawn.push_back(untried.draw(random));
        EXPECT_TRUE(untried.contains(drawn.back()));
        untried.remove(drawn.back());
        EXPECT_FALSE(untried.contains(drawn.back()));
    }
    std::ranges::sort(drawn);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(drawn[i], i);
}

// The search draws 64 points at random, and first proposes the point with the lowest estimate.
TEST(AdaptiveSearch, DrawsWhatIsExpectedToBeFast) {
    std::vector<std::int64_t> values(1000);
    std::iota(values.begin(), values.end(), 1);
    SearchSetup setup{.space = std::make_shared<ParameterSpace>(std::vector<Parameter>{{"X", values, 1, ""}},
                                                                std::vector<Constraint>{}, Environment{}),
                      .seed = 1};
    setup.estimate = [](const Configuration& each) { return static_cast<double>(each.values.at("X")); };
    EXPECT_LT(make_search("annealing", setup)->next()->values.at("X"), 200);
}

TEST(UntriedPoints, LosesAPointOnce) {
    UntriedPoints untried(3);
    untried.remove(1);
    untried.remove(1);
    EXPECT_EQ(untried.size(), 2U);
    EXPECT_TRUE(untried.contains(0));
    EXPECT_TRUE(untried.contains(2));
}

}  // namespace
}  // namespace smemtune
