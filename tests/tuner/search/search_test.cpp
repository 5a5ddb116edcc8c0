#include "tuner/search/search.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

std::shared_ptr<const ParameterSpace> grid() {
    return std::make_shared<ParameterSpace>(
        std::vector<Parameter>{{"X", {1, 2, 3, 4, 5, 6, 7, 8}, 1, ""}, {"Y", {1, 2, 3, 4, 5, 6, 7, 8}, 1, ""}},
        std::vector<Constraint>{{Expression("X != Y"), "off the diagonal"}}, Environment{});
}

std::vector<std::string> walk(Search& search) {
    std::vector<std::string> order;
    while (const auto configuration = search.next()) {
        order.push_back(to_text(*configuration));
        search.observe(*configuration, 1.0);
    }
    EXPECT_FALSE(search.next()) << "satisfied once, satisfied for good";
    return order;
}

class EverySearch : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySearch, ProposesEachConfigurationOnce) {
    const auto order = walk(*make_search(GetParam(), {grid(), 7}));
    EXPECT_EQ(order.size(), 56U);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 56U);
}

TEST_P(EverySearch, IsTheSameForTheSameSeed) {
    EXPECT_EQ(walk(*make_search(GetParam(), {grid(), 7})), walk(*make_search(GetParam(), {grid(), 7})));
}

TEST_P(EverySearch, MayBeAskedAheadOfWhatItObserves) {
    const auto search = make_search(GetParam(), {grid(), 3});
    std::set<std::string> seen;
    std::vector<Configuration> pending;
    for (int i = 0; i < 56; ++i) {
        pending.push_back(search->next().value());
        EXPECT_TRUE(seen.insert(to_text(pending.back())).second);
    }
    EXPECT_FALSE(search->next());
    for (const auto& each : pending) search->observe(each, std::nullopt);
}

TEST_P(EverySearch, IsSatisfiedAtOnceWhereNothingIsFeasible) {
    const auto nothing = std::make_shared<ParameterSpace>(
        std::vector<Parameter>{{"X", {1}, 1, ""}}, std::vector<Constraint>{{Expression("0"), "never"}}, Environment{});
    EXPECT_FALSE(make_search(GetParam(), {nothing, 1})->next());
}

INSTANTIATE_TEST_SUITE_P(Search, EverySearch, ::testing::ValuesIn(search_names()),
                         [](const auto& name) { return name.param; });

TEST(Search, ExhaustiveFollowsTheOrderOfTheSpace) {
    const auto space = grid();
    const auto order = walk(*make_search("exhaustive", {space}));
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], to_text((*space)[i]));
}

TEST(Search, RandomDiffersBetweenSeedsAndFromTheOrderOfTheSpace) {
    const auto one = walk(*make_search("random", {grid(), 1}));
    EXPECT_NE(one, walk(*make_search("random", {grid(), 2})));
    EXPECT_NE(one, walk(*make_search("exhaustive", {grid()})));
}

TEST(Search, AnUnknownNameIsAnsweredWithTheKnownOnes) {
    const auto message = complaint([] { make_search("nope", {grid(), 1}); });
    for (const auto& name : search_names()) EXPECT_THAT(message, ::testing::HasSubstr(name));
    EXPECT_THAT(message, ::testing::HasSubstr("'nope'"));
}

}  // namespace
}  // namespace smemtune
