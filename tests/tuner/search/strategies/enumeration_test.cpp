#include "tuner/search/strategies/enumeration.h"

#include <gmock/gmock.h>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

TEST(RandomSearch, MakesTheSameProposalsForASeedOnEveryMachine) {
    EXPECT_THAT(sampled_proposals(*random_search({hundred(), 5}), valley(), 100, 4),
                ::testing::ElementsAre("2 8 2 6", "5 2 6 6", "5 8 6 6", "3 2 6 6", "2 2 6 6", "1 3 2 6", "3 3 6 6",
                                       "1 5 6 6", "5 5 2 6", "8 3 6 2", "2 3 6 6", "5 1 2 6", "3 5 2 2", "1 8 2 6",
                                       "2 1 6 6", "5 2 2 6", "5 3 6 6", "8 1 6 2", "1 2 6 2", "2 2 6 2", "1 1 2 6",
                                       "1 2 2 6", "8 8 6 2", "2 1 2 2", "3 1 6 2"));
    const auto first = [](unsigned seed) {
        return sampled_proposals(*random_search({hundred(), seed}), valley(), 3, 1);
    };
    EXPECT_THAT(first(1), ::testing::ElementsAre("1 8 6 6", "8 5 2 6", "2 1 2 2"));
    EXPECT_THAT(first(2), ::testing::ElementsAre("5 3 6 6", "8 3 2 6", "3 8 2 2"));
    EXPECT_THAT(first(3), ::testing::ElementsAre("3 8 6 2", "1 1 6 6", "2 8 2 2"));
}

TEST(ExhaustiveSearch, KeepsTheOrderOfTheSpaceBehindTheStarts) {
    const auto space = std::make_shared<ParameterSpace>(std::vector<Parameter>{{"X", {1, 2, 3, 4, 5, 6}, 1, ""}},
                                                        std::vector<Constraint>{}, Environment{});
    const SearchSetup setup{
        space, 1, {parse_configuration("X=5"), parse_configuration("X=2"), parse_configuration("X=5")}};
    EXPECT_THAT(sampled_proposals(*exhaustive_search(setup), bowl(3), 9, 1),
                ::testing::ElementsAre("5", "2", "1", "3", "4", "6"));
}

}  // namespace
}  // namespace smemtune
