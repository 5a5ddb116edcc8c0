#include "tuner/search/search.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "tests/tuner/search/landscapes.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

std::shared_ptr<const ParameterSpace> grid() {
    return std::make_shared<ParameterSpace>(
        std::vector<Parameter>{{"X", {1, 2, 3, 4, 5, 6, 7, 8}, 1, ""}, {"Y", {1, 2, 3, 4, 5, 6, 7, 8}, 1, ""}},
        std::vector<Constraint>{{Expression("X != Y"), "off the diagonal"}}, Environment{});
}

std::vector<std::string> walk(Search& search, const CostFunction& landscape = bowl(3)) {
    std::vector<std::string> order;
    while (const auto configuration = search.next()) {
        order.push_back(to_text(*configuration));
        search.observe(*configuration, landscape(*configuration));
    }
    EXPECT_FALSE(search.next()) << "a search that has ended stays ended";
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

TEST_P(EverySearch, UsesUpASpaceOfOnePoint) {
    const auto one = std::make_shared<ParameterSpace>(std::vector<Parameter>{{"X", {5}, 5, ""}},
                                                      std::vector<Constraint>{}, Environment{});
    EXPECT_THAT(walk(*make_search(GetParam(), {one, 1})), ::testing::ElementsAre("X=5"));
}

TEST_P(EverySearch, TriesTheStartsFirstAndPassesOverThoseOutsideTheSpace) {
    const SearchSetup setup{grid(),
                            5,
                            {parse_configuration("X=8,Y=2"), parse_configuration("X=3,Y=3"), Configuration{},
                             parse_configuration("X=1,Y=7"), parse_configuration("X=8,Y=2")}};
    const auto order = walk(*make_search(GetParam(), setup));
    EXPECT_EQ(order.size(), 56U);
    EXPECT_EQ(order[0], "X=8,Y=2");
    EXPECT_EQ(order[1], "X=1,Y=7");
}

TEST_P(EverySearch, UsesUpASpaceInWhichAllCostTheSame) {
    const auto flat = [](const Configuration&) { return std::optional(2.0); };
    EXPECT_EQ(walk(*make_search(GetParam(), {grid(), 2}), flat).size(), 56U);
}

TEST_P(EverySearch, UsesUpASpaceInWhichAllIsRejected) {
    const auto none = [](const Configuration&) { return std::optional<double>{}; };
    EXPECT_EQ(walk(*make_search(GetParam(), {grid(), 2}), none).size(), 56U);
}

INSTANTIATE_TEST_SUITE_P(Search, EverySearch, ::testing::ValuesIn(search_names()),
                         [](const auto& name) { return name.param; });

class EveryAdaptiveSearch : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryAdaptiveSearch, ReachesTheBottomOfABowlFarSoonerThanChance) {
    for (unsigned seed = 1; seed <= 5; ++seed) {  // a random search needs 2048 evaluations on average
        EXPECT_LT(evaluations_to(*make_search(GetParam(), {cube(), seed}), bowl(6), 1), 500) << "seed " << seed;
    }
}

TEST_P(EveryAdaptiveSearch, SurvivesASpaceInWhichMostIsRejected) {
    const auto landscape = [](const Configuration& configuration) -> std::optional<double> {
        std::int64_t sum = 0;
        for (const auto& [name, value] : configuration.values) sum += value * value;
        if (sum % 5 < 3) return std::nullopt;  // does not reject the optimum, 6, 6, 6, 6
        return bowl(6)(configuration);
    };
    ASSERT_TRUE(landscape(parse_configuration("A=6,B=6,C=6,D=6")));
    for (unsigned seed = 1; seed <= 3; ++seed) {
        EXPECT_LT(evaluations_to(*make_search(GetParam(), {cube(), seed}), landscape, 1), 1000) << "seed " << seed;
    }
}

TEST_P(EveryAdaptiveSearch, FindsItsWayThroughCoupledConstraints) {
    for (unsigned seed = 1; seed <= 5; ++seed) {  // a change of one parameter alone breaks the rule
        const auto space = cube("(A + B + C + D) % 8 == 0");
        EXPECT_LT(evaluations_to(*make_search(GetParam(), {space, seed}), bowl(6), 1), 300) << "seed " << seed;
    }
}

TEST_P(EveryAdaptiveSearch, LearnsWhileSixteenAreAwaitedAndAnsweredInAnyOrder) {
    const auto search = make_search(GetParam(), {cube(), 4});
    std::vector<Configuration> awaited;
    std::set<std::string> seen;
    bool reached = false;
    for (int i = 0; i < 800 && !reached; ++i) {
        awaited.push_back(search->next().value());
        EXPECT_TRUE(seen.insert(to_text(awaited.back())).second);
        if (awaited.size() < 16) continue;
        const auto answered = awaited.begin() + (i * 7) % 16;
        const auto cost = bowl(6)(*answered);
        search->observe(*answered, cost);
        reached = cost == 1.0;
        awaited.erase(answered);
    }
    EXPECT_TRUE(reached);
}

TEST_P(EveryAdaptiveSearch, LearnsFromCostsOfZeroAndBelow) {
    const auto lowered = [](const Configuration& configuration) { return std::optional(*bowl(6)(configuration) - 21); };
    for (unsigned seed = 1; seed <= 5; ++seed) {  // only a few of the landscape's costs are below 0
        EXPECT_LT(evaluations_to(*make_search(GetParam(), {cube(), seed}), lowered, -20), 500) << "seed " << seed;
    }
}

TEST_P(EveryAdaptiveSearch, TakesACostThatIsNotFiniteForARejection) {
    const auto landscape = [](double bad) {
        return [bad](const Configuration& configuration) -> std::optional<double> {
            return configuration.values.at("A") % 2 != 0 ? bad : *bowl(6)(configuration);
        };
    };
    const auto limits = std::numeric_limits<double>();
    for (const auto bad : {limits.quiet_NaN(), -limits.infinity(), limits.infinity()}) {
        const auto search = make_search(GetParam(), {cube(), 2});
        int count = 0;
        for (std::optional<double> cost; cost != 1.0 && count < 1000; ++count) {
            const auto configuration = search->next().value();
            cost = landscape(bad)(configuration);
            search->observe(configuration, cost);
        }
        EXPECT_LT(count, 1000);
    }
}

TEST_P(EveryAdaptiveSearch, GoesOnWhereSomeAreNeverAnswered) {
    const auto search = make_search(GetParam(), {cube(), 2});
    bool reached = false;
    int count = 0;
    for (; count < 1000 && !reached; ++count) {
        const auto configuration = search->next().value();
        const auto cost = *bowl(6)(configuration);
        if (count % 3 == 0 && cost > 1) continue;
        search->observe(configuration, cost);
        reached = cost == 1;
    }
    EXPECT_LT(count, 1000);
}

TEST_P(EveryAdaptiveSearch, DoesNotProposeWhatWasObservedUnasked) {
    const auto space = grid();
    const auto search = make_search(GetParam(), {space, 4});
    for (std::size_t i = 0; i < 50; ++i) search->observe((*space)[i], static_cast<double>(i));
    search->observe(parse_configuration("X=3,Y=3"), 0.1);  // this configuration is outside the space
    const auto order = walk(*search);
    EXPECT_EQ(order.size(), 6U);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_THAT(order, ::testing::Not(::testing::Contains(to_text((*space)[i]))));
}

TEST_P(EveryAdaptiveSearch, TriesFirstWhatTheEstimateLikes) {
    const auto estimate = [](const Configuration& configuration) { return *bowl(6)(configuration); };
    SearchSetup setup{cube(), 4};
    const auto blind = make_search(GetParam(), setup)->next().value();
    setup.estimate = estimate;
    const auto first = make_search(GetParam(), setup)->next().value();
    EXPECT_LT(estimate(first), 20) << "few of the 4096 are that low";
    EXPECT_GT(estimate(blind), estimate(first));
}

TEST_P(EveryAdaptiveSearch, FindsTheBestNearAStartSoonerThanWithout) {
    int with = 0;
    int without = 0;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto start = parse_configuration("A=6,B=6,C=6,D=5");
        with += evaluations_to(*make_search(GetParam(), {cube(), seed, {start}}), bowl(6), 1);
        without += evaluations_to(*make_search(GetParam(), {cube(), seed}), bowl(6), 1);
    }
    EXPECT_LT(with, without);
}

// The search guesses the costs of proposals in flight. If guesses counted as outcomes, new guesses would be computed
// from old guesses, and the search would never recover from a wrong guess.
TEST(Surrogate, NeedsLittleMoreWhileEightAreAwaited) {
    const auto rugged = [](const Configuration& configuration) {
        const auto cost = std::log(*bowl(6)(configuration));
        return 1 + cost + 0.3 * static_cast<double>(std::hash<std::string>()(to_text(configuration)) % 8) / 8;
    };
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto search = make_search("surrogate", {cube(), seed});
        std::deque<Configuration> awaited;
        double best = 100;
        int count = 0;
        for (; count < 300 && best > 1.3; ++count) {
            while (awaited.size() < 8) awaited.push_back(search->next().value());
            const auto cost = rugged(awaited.front());
            search->observe(awaited.front(), cost);
            best = std::min(best, cost);
            awaited.pop_front();
        }
        EXPECT_LT(count, 150) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Search, EveryAdaptiveSearch, ::testing::Values("local", "annealing", "genetic", "surrogate"),
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

TEST(Search, AutoIsOneOfTheOthers) {
    EXPECT_EQ(walk(*make_search("auto", {grid(), 7})), walk(*make_search(auto_search(), {grid(), 7})));
    EXPECT_NE(auto_search(), "auto");
}

TEST(Search, AnUnknownNameIsAnsweredWithTheKnownOnes) {
    const auto message = complaint([] { make_search("nope", {grid(), 1}); });
    for (const auto& name : search_names()) EXPECT_THAT(message, ::testing::HasSubstr(name));
    EXPECT_THAT(message, ::testing::HasSubstr("'nope'"));
}

}  // namespace
}  // namespace smemtune
