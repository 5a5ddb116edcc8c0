#include "tuner/search/strategies/surrogate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;

// If you change the search, change these proposals, too. The commit message must then give the figures that
// CONTRIBUTING.md asks for.
TEST(SurrogateSearch, MakesTheSameProposalsForASeedOnEveryMachine) {
    EXPECT_THAT(
        sampled_proposals(*surrogate_search({hundred(), 5}), valley(), 100, 4),
        ElementsAre("8 8 6 6", "8 2 6 2", "5 5 2 2", "5 2 2 2", "3 2 2 2", "1 1 6 2", "5 8 2 6", "8 1 6 6", "3 5 2 2",
                    "5 8 2 2", "2 8 6 6", "2 2 2 2", "1 2 2 6", "5 5 6 6", "5 2 2 6", "1 3 2 6", "1 2 6 6", "3 3 2 6",
                    "2 5 2 6", "8 3 6 6", "5 8 6 6", "1 8 6 6", "2 8 6 2", "3 8 2 6", "3 8 2 2"));
    EXPECT_THAT(sampled_proposals(*surrogate_search({hundred(), 6}), valley(), 60, 3, 8),
                ElementsAre("8 5 2 6", "8 1 6 2", "2 1 6 6", "8 8 2 6", "8 8 2 2", "8 5 6 2", "5 1 6 2", "2 8 2 2",
                            "2 8 6 2", "5 2 6 2", "3 1 6 2", "5 2 2 2", "1 3 2 2", "1 1 2 2", "2 3 2 2", "5 3 2 6",
                            "5 5 6 2", "2 3 6 2", "3 1 6 6", "5 5 2 6"));
    EXPECT_THAT(sampled_proposals(*surrogate_search({cube("(A + B * C + D) % 5 != 0"), 11}), valley(), 60, 4),
                ElementsAre("3 8 6 8", "1 6 8 5", "8 7 4 1", "4 8 2 1", "8 8 3 7", "8 6 4 2", "1 1 1 1", "8 5 3 1",
                            "5 1 1 8", "1 2 8 1", "4 6 4 3", "1 8 5 1", "5 1 1 1", "8 6 2 2", "1 4 5 1"));
    const auto clipped = [](const Configuration& each) -> std::optional<double> {
        const auto cost = valley()(each);
        return cost ? std::optional(std::max(0.0, *cost - 6)) : std::nullopt;
    };
    EXPECT_THAT(sampled_proposals(*surrogate_search({hundred(), 5}), clipped, 60, 3),
                ElementsAre("8 5 2 2", "1 8 6 2", "1 2 2 2", "5 5 2 2", "5 3 2 2", "3 2 2 2", "8 8 6 2", "2 1 2 2",
                            "5 5 2 6", "3 3 2 2", "3 5 2 2", "1 3 2 2", "5 1 6 2", "2 2 2 2", "2 8 6 6", "8 2 2 2",
                            "2 2 6 2", "2 1 6 2", "2 3 2 6", "5 1 6 6"));
    SearchSetup informed{
        hundred(), 5, {parse_configuration("A=5,B=3,C=2,D=6"), parse_configuration("A=3,B=1,C=2,D=2")}};
    informed.features = [](const Configuration& each) {
        return std::vector{static_cast<double>(each.values.at("A") * each.values.at("B")), 3.0};
    };
    informed.estimate = [](const Configuration& each) {
        return static_cast<double>(each.values.at("A") * 7 % 5) + 0.37 * static_cast<double>(each.values.at("B"));
    };
    EXPECT_THAT(sampled_proposals(*surrogate_search(informed), valley(), 60, 3),
                ElementsAre("3 2 2 2", "5 1 2 2", "5 1 2 6", "2 1 2 2", "1 2 2 2", "5 2 2 2", "8 5 6 2", "1 1 2 6",
                            "1 8 6 6", "8 8 6 2", "8 3 2 2", "8 5 2 6", "5 5 6 6", "3 2 6 2", "1 3 2 6", "8 5 6 6",
                            "5 2 2 6", "2 8 6 6", "8 2 2 6", "5 2 6 6"));
}

// Returns the parameters in which the next `count` proposals differ from `centre` by one step. A proposal that differs
// in another way gives "far".
std::multiset<std::string> steps_from(Search& search, const std::string& centre, int count) {
    std::multiset<std::string> steps;
    const auto at = parse_configuration(centre);
    for (int i = 0; i < count; ++i) {
        std::int64_t away = 0;
        std::string changed;
        const auto proposal = search.next().value();
        for (const auto& [name, value] : proposal.values) {
            away += std::abs(value - at.values.at(name));
            if (value != at.values.at(name)) changed = name;
        }
        steps.insert(away == 1 ? changed : "far");
    }
    return steps;
}

TEST(SurrogateSearch, StepsOnceInEachParameterFromTheFasterStart) {
    const auto start = [](const char* text) { return parse_configuration(text); };
    const SearchSetup setup{cube(), 3, {start("A=2,B=7,C=2,D=7"), start("A=5,B=5,C=5,D=5"), start("A=1,B=1,C=1,D=1")}};
    const auto observed = [&](const std::vector<std::optional<double>>& costs) {
        auto search = surrogate_search(setup);
        for (std::size_t i = 0; i < setup.starts.size(); ++i) {
            EXPECT_EQ(search->next(), setup.starts[i]);
            if (i < costs.size()) search->observe(setup.starts[i], costs[i]);
        }
        return search;
    };
    const std::multiset<std::string> each{"A", "B", "C", "D"};
    EXPECT_EQ(steps_from(*observed({20.0, 10.0, 30.0}), "A=5,B=5,C=5,D=5", 4), each);
    EXPECT_EQ(steps_from(*observed({20.0, std::nullopt, 30.0}), "A=2,B=7,C=2,D=7", 4), each)
        << "the second is rejected";
    EXPECT_EQ(steps_from(*observed({}), "A=2,B=7,C=2,D=7", 4), each) << "the first, as no cost is known yet";
    EXPECT_EQ(steps_from(*observed({20.0, 10.0, 30.0}), "A=5,B=5,C=5,D=5", 5).count("far"), 1U) << "and never again";
    const std::multiset<std::string> none{"far", "far", "far", "far"};
    EXPECT_EQ(steps_from(*observed({std::nullopt, std::nullopt, std::nullopt}), "A=5,B=5,C=5,D=5", 4), none);
}

}  // namespace
}  // namespace smemtune
