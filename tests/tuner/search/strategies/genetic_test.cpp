#include "tuner/search/strategies/genetic.h"

#include <gmock/gmock.h>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

// If you change the search, change these proposals, too. The commit message must then give the figures that
// CONTRIBUTING.md asks for.
TEST(GeneticSearch, MakesTheSameProposalsForASeedOnEveryMachine) {
    const auto space = cube("(A + B * C + D) % 5 != 0");
    EXPECT_THAT(
        sampled_proposals(*genetic_search({space, 11}), valley(), 600, 20),
        ::testing::ElementsAre("7 2 3 5", "8 4 6 6", "7 6 5 2", "7 6 4 2", "7 3 3 2", "8 6 3 3", "5 5 3 1", "6 4 4 1",
                               "1 5 4 1", "1 5 3 2", "6 2 3 2", "8 7 2 1", "2 6 3 3", "6 7 7 2", "7 7 3 3", "5 8 2 2",
                               "4 3 3 1", "5 7 3 5", "5 6 3 3", "8 2 3 3", "1 1 3 2", "3 1 3 6", "3 2 6 2", "3 1 5 1",
                               "7 1 3 7", "4 4 3 7", "4 7 3 8", "7 3 2 1", "3 5 8 1", "5 1 2 1"));
    EXPECT_THAT(
        sampled_proposals(*genetic_search({space, 12}), valley(), 300, 20, 8),
        ::testing::ElementsAre("3 4 3 4", "7 6 3 2", "8 8 8 2", "2 7 3 4", "5 2 3 1", "5 7 3 1", "6 6 3 3", "8 7 6 2",
                               "6 4 3 3", "5 3 5 2", "2 8 3 2", "7 5 2 1", "6 5 3 8", "8 8 8 1", "3 2 4 2"));
    EXPECT_THAT(sampled_proposals(*genetic_search({hundred(), 5}), valley(), 100, 4),
                ::testing::ElementsAre("5 5 6 2", "1 8 6 6", "8 1 2 6", "1 1 6 6", "5 8 6 2", "5 1 2 2", "5 1 2 6",
                                       "1 8 6 2", "5 3 6 2", "3 3 2 2", "8 8 2 2", "5 2 2 2", "8 5 2 6", "3 8 2 2",
                                       "1 2 6 2", "3 3 6 2", "8 2 2 2", "3 2 6 2", "5 8 2 6", "5 2 6 6", "2 2 6 6",
                                       "3 8 6 6", "8 2 6 6", "2 8 6 6", "8 3 6 6"));
}

}  // namespace
}  // namespace smemtune
