#include "tuner/analysis/importance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

double value_of(const Configuration& configuration, const char* name) {
    return static_cast<double>(configuration.values.at(name));
}

// log t = A + B / 2 + C D / 8. Each parameter takes the values 1 to 8, so the shares of the variance are known.
double known_time(const Configuration& configuration) {
    return std::exp(value_of(configuration, "A") + value_of(configuration, "B") / 2 +
                    value_of(configuration, "C") * value_of(configuration, "D") / 8);
}

OutcomeTable outcomes(const ParameterSpace& space, double (*time)(const Configuration&), unsigned percent = 100) {
    OutcomeTable table;
    std::mt19937 random(7);
    for (std::size_t i = 0; i < space.size(); ++i) {
        if (random() % 100 < percent) table.add(space[i], Measurement{.median_us = time(space[i])});
    }
    return table;
}

std::vector<std::string> ranking(const Importance& found) {
    std::vector<std::string> names;
    for (const auto& each : found.parameters) names.push_back(each.name);
    return names;
}

TEST(Importance, AFullLandscapeGivesTheSharesOfItsFormula) {
    const auto space = cube();
    const auto found = importance(outcomes(*space, known_time), space.get());
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.too_little, "");
    // Var(1..8) = 5.25. Var(C D) = E[C^2] E[D^2] - E[C]^2 E[D]^2 = 25.5^2 - 4.5^4 = 240.1875. The main effects of C
    // and D are 4.5^2 * 5.25 = 106.3125 each.
    const auto all = 5.25 + 5.25 / 4 + 240.1875 / 64;
    ASSERT_THAT(ranking(found), testing::SizeIs(4));
    EXPECT_EQ(found.parameters[0].name, "A");
    EXPECT_NEAR(found.parameters[0].share, 5.25 / all, 1e-9);
    EXPECT_NEAR(found.parameters[1].share, 106.3125 / 64 / all, 1e-9);
    EXPECT_EQ(found.parameters[3].name, "B");
    EXPECT_NEAR(found.parameters[3].share, 5.25 / 4 / all, 1e-9);
    ASSERT_EQ(found.pairs.size(), 6);
    EXPECT_EQ(found.pairs[0].first + found.pairs[0].second, "CD");
    EXPECT_NEAR(found.pairs[0].share, (240.1875 - 2 * 106.3125) / 64 / all, 1e-9);
    EXPECT_NEAR(found.pairs[1].share, 0, 1e-9);
}

TEST(Importance, ALevelHasTheGeometricMeanOfItsTimes) {
    const auto space = cube();
    const auto found = importance(outcomes(*space, known_time), space.get());
    const auto& levels = found.parameters[0].levels;
    ASSERT_EQ(levels.size(), 8);
    EXPECT_EQ(levels[0].value, 1);
    EXPECT_EQ(levels[0].measured, 512);
    EXPECT_NEAR(levels[0].time, std::exp(1 + 4.5 / 2 + 4.5 * 4.5 / 8), 1e-6);
    EXPECT_NEAR(levels[3].time / levels[0].time, std::exp(3), 1e-6);
}

// The exact analysis finds that A is the most important parameter, B the least important parameter, and C and D the
// most important pair. A sample of 10 % of the configurations must give the same result.
TEST(Importance, ASampleRanksParametersAsTheFullLandscapeDoes) {
    const auto space = cube();
    const auto found = importance(outcomes(*space, known_time, 10), space.get());
    EXPECT_FALSE(found.exact);
    EXPECT_EQ(found.too_little, "");
    EXPECT_THAT(found.method, HasSubstr("random forest"));
    EXPECT_GT(found.explained, 0.8);
    EXPECT_EQ(ranking(found).front(), "A");
    EXPECT_EQ(ranking(found).back(), "B");
    EXPECT_NEAR(found.parameters[0].share, 0.508, 0.1);
    EXPECT_EQ(found.pairs[0].first + found.pairs[0].second, "CD");
}

// Most measurements lie in one corner of the space, as a search would leave them. The computed shares must still be
// those of all valid configurations.
TEST(Importance, ManyMeasurementsInOneCornerDoNotHideAParameter) {
    const auto space = cube();
    OutcomeTable table;
    std::mt19937 random(3);
    for (std::size_t i = 0; i < space->size(); ++i) {
        const auto configuration = (*space)[i];
        const bool corner = value_of(configuration, "A") == 4;
        if (random() % 100 < (corner ? 90U : 5U))
            table.add(configuration, Measurement{.median_us = known_time(configuration)});
    }
    const auto share = [&](const ParameterSpace* valid) {
        for (const auto& each : importance(table, valid).parameters) {
            if (each.name == "A") return each.share;
        }
        return 0.0;
    };
    EXPECT_NEAR(share(space.get()), 0.508, 0.12);
    EXPECT_LT(share(nullptr), 0.35) << "without the valid configurations, the corner decides";
}

TEST(Importance, TooFewMeasurementsTellNothing) {
    const auto space = cube();
    auto table = outcomes(*space, known_time);
    table.rows.resize(29);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        table.rows[i].values = {static_cast<std::int64_t>(i % 8 + 1), static_cast<std::int64_t>(i % 7 + 1), 1, 1};
    }
    const auto found = importance(table, space.get());
    EXPECT_THAT(found.too_little,
                AllOf(HasSubstr("29 measured"), HasSubstr("30 are needed"), HasSubstr("2 parameters")));
    EXPECT_THAT(found.parameters, IsEmpty());
    EXPECT_THAT(found.pairs, IsEmpty());
}

TEST(Importance, ManyParametersNeedMoreMeasurements) {
    OutcomeTable table;
    std::mt19937 random(1);
    for (int i = 0; i < 69; ++i) {
        Configuration configuration;
        for (const auto* name : {"A", "B", "C", "D", "E", "F", "G"})
            configuration.values[name] = static_cast<std::int64_t>(random() % 2);
        table.add(configuration, Measurement{.median_us = std::exp(value_of(configuration, "A"))});
    }
    EXPECT_THAT(importance(table).too_little, HasSubstr("70 are needed"));
    table.rows.push_back(table.rows.front());
    EXPECT_EQ(importance(table).too_little, "");
}

TEST(Importance, TimesThatNoParameterPredictsTellNothing) {
    const auto space = cube();
    auto table = outcomes(*space, known_time, 10);
    std::mt19937 random(5);
    for (auto& row : table.rows) row.time = 1 + static_cast<double>(random() % 1000);
    const auto found = importance(table, space.get());
    EXPECT_THAT(found.too_little, AllOf(HasSubstr("less than 50 %"), HasSubstr("--evaluations")));
    EXPECT_THAT(found.parameters, IsEmpty());
}

TEST(Importance, EqualTimesTellNothing) {
    const auto space = cube();
    const auto constant = +[](const Configuration&) { return 5.0; };
    EXPECT_THAT(importance(outcomes(*space, constant), space.get()).too_little, HasSubstr("the same time"));
}

TEST(Importance, RejectedOnesAreCountedAndHaveNoTime) {
    const auto space = cube();
    auto table = outcomes(*space, known_time, 50);
    const auto measured = table.rows.size();
    table.add((*space)[0], Rejection{Stage::launch, "too many registers"});
    table.add((*space)[1], Measurement{.median_us = 100, .cut_short = true});
    const auto found = importance(table, space.get());
    EXPECT_EQ(found.measured, measured + 1);
    EXPECT_EQ(found.rejected, 1);
    EXPECT_EQ(found.cut_short, 1);
    EXPECT_EQ(found.valid, 4096);
}

// A rejected configuration counts as tried. A landscape is therefore full if every configuration was measured or
// rejected.
TEST(Importance, ALandscapeIsFullIfTheRestWasRejected) {
    const auto space = cube();
    auto table = outcomes(*space, known_time);
    table.rows.pop_back();
    EXPECT_FALSE(importance(table, space.get()).exact);
    table.rejected = 1;
    EXPECT_TRUE(importance(table, space.get()).exact);
}

TEST(Importance, AParameterWithOneValueIsLeftOut) {
    const auto space = cube("C == 3");
    EXPECT_THAT(ranking(importance(outcomes(*space, known_time), space.get())), ElementsAre("A", "B", "D"));
}

TEST(Importance, ConfigurationsOfAnotherTemplateAreRefused) {
    OutcomeTable table;
    table.add({{{"A", 1}, {"B", 2}}}, Measurement{.median_us = 1});
    EXPECT_THROW(table.add({{{"A", 1}}}, Measurement{.median_us = 1}), std::invalid_argument);
    EXPECT_THROW(table.add({{{"A", 1}, {"C", 2}}}, Measurement{.median_us = 1}), std::invalid_argument);
}

}  // namespace
}  // namespace smemtune
