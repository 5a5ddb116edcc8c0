#include "tuner/search/strategies/annealing.h"

#include <gmock/gmock.h>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

// If you change the search, change these proposals, too. The commit message must then give the figures that
// CONTRIBUTING.md asks for.
TEST(AnnealingSearch, MakesTheSameProposalsForASeedOnEveryMachine) {
    const auto space = cube("(A + B * C + D) % 5 != 0");
    EXPECT_THAT(
        sampled_proposals(*annealing_search({space, 11}), valley(), 600, 20),
        ::testing::ElementsAre("5 3 4 2", "3 1 2 2", "1 1 3 8", "7 5 2 2", "4 6 3 1", "7 8 8 7", "3 1 3 6", "1 1 8 3",
                               "8 1 6 2", "3 4 1 6", "6 7 3 1", "1 3 3 4", "1 1 5 3", "5 1 7 5", "5 3 3 3", "5 2 3 7",
                               "3 7 4 5", "7 4 3 4", "6 2 4 4", "7 8 4 4", "6 4 4 4", "2 4 4 3", "5 1 3 3", "3 6 8 2",
                               "5 1 4 3", "8 7 8 2", "3 8 2 7", "3 1 1 3", "3 2 7 1", "2 4 3 3"));
    EXPECT_THAT(
        sampled_proposals(*annealing_search({space, 12}), valley(), 300, 20, 8),
        ::testing::ElementsAre("8 7 3 4", "8 7 5 3", "1 8 8 3", "8 5 4 1", "2 7 2 6", "8 6 8 2", "8 1 1 2", "8 2 4 1",
                               "2 5 3 2", "8 2 3 7", "6 3 3 6", "8 3 3 4", "1 1 3 3", "1 1 4 7", "4 1 4 1"));
    EXPECT_THAT(sampled_proposals(*annealing_search({hundred(), 5}), valley(), 100, 4),
                ::testing::ElementsAre("5 1 2 2", "5 3 2 2", "3 3 2 2", "2 3 2 6", "2 2 2 6", "1 5 2 2", "1 1 2 6",
                                       "1 1 6 6", "3 3 6 2", "2 8 2 2", "5 1 2 6", "1 5 2 6", "8 5 2 6", "2 8 6 2",
                                       "8 1 6 6", "8 1 2 6", "3 1 2 6", "3 3 2 6", "8 3 6 2", "8 8 6 2", "8 8 2 2",
                                       "5 8 6 2", "8 3 2 6", "5 2 6 6", "2 5 6 6"));
}

}  // namespace
}  // namespace smemtune
