#include "tuner/search/strategies/local.h"

#include <gmock/gmock.h>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

// If you change the search, change these proposals, too. The commit message must then give the figures that
// CONTRIBUTING.md asks for.
TEST(LocalSearch, MakesTheSameProposalsForASeedOnEveryMachine) {
    const auto space = cube("(A + B * C + D) % 5 != 0");
    EXPECT_THAT(
        sampled_proposals(*local_search({space, 11}), valley(), 600, 20),
        ::testing::ElementsAre("3 1 3 8", "6 7 6 1", "5 2 4 1", "5 1 2 2", "4 4 4 2", "8 7 2 6", "8 7 4 1", "8 4 3 2",
                               "2 5 3 1", "1 4 6 1", "3 2 4 1", "2 2 7 2", "4 1 8 7", "8 7 5 3", "5 3 4 2", "4 8 3 3",
                               "3 3 3 5", "4 1 2 3", "1 5 4 8", "8 3 2 7", "3 7 4 1", "8 3 2 3", "4 7 8 6", "2 7 5 1",
                               "4 6 6 7", "5 7 7 7", "8 1 2 1", "4 2 1 6", "1 6 3 2", "2 3 5 4"));
    EXPECT_THAT(
        sampled_proposals(*local_search({space, 12}), valley(), 300, 20, 8),
        ::testing::ElementsAre("6 3 3 8", "8 1 3 2", "7 3 1 1", "7 6 4 7", "7 6 3 8", "7 3 3 2", "5 5 3 1", "2 5 3 1",
                               "5 1 3 6", "8 1 2 7", "1 1 3 5", "1 5 3 3", "4 1 6 1", "1 5 4 1", "2 7 7 3"));
    EXPECT_THAT(sampled_proposals(*local_search({hundred(), 5}), valley(), 100, 4),
                ::testing::ElementsAre("3 1 2 6", "2 1 2 2", "1 5 2 6", "1 8 2 6", "8 2 2 6", "8 8 6 2", "8 3 2 2",
                                       "2 1 6 2", "3 3 6 6", "5 3 2 2", "5 2 2 2", "8 1 6 6", "5 2 6 6", "3 5 6 6",
                                       "8 2 6 2", "2 2 6 6", "3 2 6 2", "5 2 2 6", "2 8 6 6", "1 2 2 6", "8 3 6 2",
                                       "3 3 6 2", "3 5 6 2", "3 8 6 2", "1 5 2 2"));
}

}  // namespace
}  // namespace smemtune
