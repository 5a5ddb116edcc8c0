#include "tuner/search/adaptive_search.h"

#include <gmock/gmock.h>

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
