#include "templates/space/parameter_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "templates/manifest/manifest.h"

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Parameter parameter(const std::string& name, std::vector<std::int64_t> values) {
    return {.name = name, .values = std::move(values)};
}

std::vector<std::int64_t> first_numbers(std::size_t count) {
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

std::vector<Constraint> rules(const std::vector<std::string>& texts) {
    std::vector<Constraint> constraints;
    for (const auto& text : texts) constraints.push_back({Expression(text), "because of " + text});
    return constraints;
}

std::vector<std::string> texts(const ParameterSpace& space) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < space.size(); ++i) result.push_back(to_text(space[i]));
    return result;
}

std::uint64_t removed(const ParameterSpace& space) {
    std::uint64_t sum = 0;
    for (const auto& each : space.census()) sum += each.points;
    return sum;
}

// Returns all valid points in the order that ParameterSpace promises. Tries every combination.
std::vector<Configuration> by_brute_force(const std::vector<Parameter>& parameters,
                                          const std::vector<Constraint>& constraints, const Environment& constants) {
    std::vector<Configuration> valid;
    std::vector<std::size_t> digits(parameters.size(), 0);
    while (true) {
        Configuration configuration;
        auto environment = constants;
        for (std::size_t i = 0; i < digits.size(); ++i) {
            environment[parameters[i].name] = configuration.values[parameters[i].name] =
                parameters[i].values[digits[i]];
        }
        const auto holds = [&](const Constraint& each) { return each.rule.evaluate(environment) != 0; };
        if (std::ranges::all_of(constraints, holds)) valid.push_back(configuration);
        auto i = digits.size();
        while (i > 0 && ++digits[i - 1] == parameters[i - 1].values.size()) digits[--i] = 0;
        if (i == 0) return valid;
    }
}

TEST(ParameterSpace, HoldsEveryCombinationWhenThereAreNoRules) {
    const ParameterSpace space({parameter("B", {4, 2}), parameter("A", {1, 3})}, {}, {});
    EXPECT_THAT(texts(space), ElementsAre("A=1,B=4", "A=3,B=4", "A=1,B=2", "A=3,B=2"));  // by B, then A, as declared
    EXPECT_EQ(space.raw_size(), 4U);
}

TEST(ParameterSpace, CensusNamesTheFirstRuleThatRemovesAPoint) {
    const ParameterSpace space({parameter("A", first_numbers(10)), parameter("B", first_numbers(10))},
                               rules({"A < limit", "A < 8", "A + B < 9"}), {{"limit", 6}});
    ASSERT_EQ(space.census().size(), 3U);
    EXPECT_EQ(space.census()[0].points, 40U);
    EXPECT_EQ(space.census()[1].points, 0U);
    EXPECT_EQ(space.census()[2].points, 1U + 2 + 3 + 4 + 5 + 6);
    EXPECT_EQ(space.size(), 60U - 21);
    EXPECT_EQ(space.census()[2].constraint.reason, "because of A + B < 9");
}

TEST(ParameterSpace, AgreesWithBruteForceOnRandomSpaces) {
    const std::vector<std::string> names{"P", "Q", "R", "S", "T"};
    const Environment constants{{"limit", 5}};
    std::size_t valid = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t bound) {
            return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
        };
        const auto any = [&] { return names[below(names.size())]; };
        std::vector<Parameter> parameters;
        for (const auto& name : names) {
            auto values = first_numbers(2 + below(4));
            std::ranges::shuffle(values, random);
            parameters.push_back(parameter(name, values));
        }
        std::vector<std::string> chosen;
        for (std::size_t i = below(5); i > 0; --i) {
            const std::vector<std::string> forms{any() + " + " + any() + " <= limit",
                                                 any() + " == " + any() + " || " + any() + " > 1",
                                                 any() + " * " + any() + " % 2 == 0",
                                                 any() + " != 2",
                                                 "limit == 5",
                                                 any() + " >= " + any()};
            chosen.push_back(forms[below(forms.size())]);
        }
        const ParameterSpace space(parameters, rules(chosen), constants);
        const auto expected = by_brute_force(parameters, rules(chosen), constants);
        ASSERT_EQ(space.size(), expected.size()) << testing::PrintToString(chosen);
        for (std::size_t i = 0; i < space.size(); ++i) {
            ASSERT_EQ(space[i], expected[i]) << "point " << i << ", " << testing::PrintToString(chosen);
        }
        EXPECT_EQ(removed(space) + space.size(), space.raw_size()) << testing::PrintToString(chosen);
        valid += space.size();
    }
    EXPECT_GT(valid, 1000U);
}

// The space has 10^12 combinations. An enumeration without pruning would not end in time.
TEST(ParameterSpace, TheCostFollowsTheValidPoints) {
    std::vector<Parameter> parameters;
    for (int i = 0; i < 12; ++i) parameters.push_back(parameter("P" + std::to_string(i), first_numbers(10)));
    const ParameterSpace space(parameters,
                               rules({"P0 == P11", "P1 == P10", "P2 == P9", "P3 == P8", "P4 == P7", "P5 == P6",
                                      "P0 + P1 == 3", "P2 + P3 <= 9", "P4 + P5 <= 5"}),
                               {});
    EXPECT_EQ(space.raw_size(), 1'000'000'000'000U);
    EXPECT_EQ(space.size(), 4U * 55 * 21);
    EXPECT_EQ(removed(space) + space.size(), space.raw_size());
    EXPECT_EQ(to_text(space[0]), "P0=0,P1=3,P10=3,P11=0,P2=0,P3=0,P4=0,P5=0,P6=0,P7=0,P8=0,P9=0");
    for (std::size_t i = 1; i < space.size(); ++i) {
        const auto key = [&](std::size_t point) {
            std::vector<std::int64_t> values;
            for (const auto& each : parameters) values.push_back(space[point].values.at(each.name));
            return values;
        };
        if (i % 97 == 0) {
            EXPECT_LT(key(i - 1), key(i));
        }
    }
}

TEST(ParameterSpace, ARuleThatTiesTheFirstAndTheLastParameterIsCheckedBeforeTheOthersAreBound) {
    std::vector<Parameter> parameters{parameter("FIRST", first_numbers(100))};
    for (const auto* name : {"A", "B", "C", "D", "E", "F"}) parameters.push_back(parameter(name, first_numbers(100)));
    parameters.push_back(parameter("LAST", first_numbers(100)));
    const auto both = rules({"FIRST + A + B + C + D + E + F + LAST >= 0", "FIRST + LAST > 1000"});
    const ParameterSpace space(parameters, both, {});
    EXPECT_EQ(space.raw_size(), 10'000'000'000'000'000U);
    EXPECT_EQ(space.size(), 0U);
    EXPECT_EQ(space.census()[1].points, space.raw_size());
}

TEST(ParameterSpace, ARuleWithoutParametersIsCheckedOnce) {
    const std::vector<Parameter> parameters{parameter("A", first_numbers(60000)), parameter("B", first_numbers(60000)),
                                            parameter("C", first_numbers(60000))};
    const ParameterSpace none(parameters, rules({"A < 3", "M > 100"}), {{"M", 100}});
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.census()[0].points, 0U);
    EXPECT_EQ(none.census()[1].points, none.raw_size());
    const ParameterSpace all({parameter("A", {1, 2})}, rules({"M == 100", "1"}), {{"M", 100}});
    EXPECT_EQ(all.size(), 2U);
}

TEST(ParameterSpace, WithoutParametersHasOnePointOrNone) {
    const ParameterSpace one({}, {}, {});
    EXPECT_EQ(one.raw_size(), 1U);
    EXPECT_THAT(texts(one), ElementsAre(""));
    const ParameterSpace none({}, rules({"0"}), {});
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.census()[0].points, 1U);
}

TEST(ParameterSpace, AParameterWithoutValuesLeavesNoPoints) {
    const ParameterSpace space({parameter("A", {1, 2}), parameter("B", {})}, rules({"A > B", "A > 1"}), {});
    EXPECT_EQ(space.raw_size(), 0U);
    EXPECT_EQ(space.size(), 0U);
    EXPECT_EQ(removed(space), 0U);
}

TEST(ParameterSpace, ARuleThatHasNoValueIsAnError) {
    const std::vector<Parameter> parameters{parameter("A", {8, 16}), parameter("B", {2, 0})};
    EXPECT_THROW(ParameterSpace(parameters, rules({"A % B == 0"}), {}), ExpressionError);
    EXPECT_EQ(ParameterSpace(parameters, rules({"B != 0", "A % B == 0"}), {}).size(), 2U);  // checks B != 0 first
    EXPECT_EQ(ParameterSpace(parameters, rules({"B != 0 && A % B == 0"}), {}).size(), 2U);
}

TEST(ParameterSpace, ANameThatNothingGivesAValueIsAnError) {
    try {
        const ParameterSpace space({parameter("A", {1})}, rules({"A <= device.thread_per_block"}), {});
        FAIL() << "has " << space.size() << " points";
    } catch (const ExpressionError& error) {
        EXPECT_THAT(error.what(), HasSubstr("unknown name 'device.thread_per_block'"));
    }
}

TEST(ParameterSpace, TooManyValidPointsAreAnErrorBeforeTheyFillTheMemory) {
    std::vector<Parameter> parameters;
    for (const auto* name : {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"}) {
        parameters.push_back(parameter(name, first_numbers(50)));
    }
    EXPECT_THROW(ParameterSpace(parameters, {}, {}), std::length_error);
    EXPECT_THROW(ParameterSpace(parameters, rules({"A + B < 50"}), {}), std::length_error);
    EXPECT_EQ(ParameterSpace(parameters, rules({"A + B < 0"}), {}).size(), 0U);
}

TEST(ParameterSpace, MoreCombinationsThanCanBeCountedAreAnError) {
    std::vector<Parameter> parameters(8, parameter("A", first_numbers(1000)));
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].name += std::to_string(i);
    EXPECT_THROW(ParameterSpace(parameters, rules({"0"}), {}), std::length_error);
    EXPECT_THROW(ParameterSpace({parameter("A", first_numbers(65536))}, rules({"A < 2"}), {}), std::length_error);
}

TEST(ParameterSpace, FindsEveryPointAndNothingElse) {
    const ParameterSpace space({{"A", {3, 1, 2}, 1, ""}, {"B", {1, 2, 3, 4}, 1, ""}},
                               {{Expression("A * B <= 6"), "small"}, {Expression("A != B"), "distinct"}}, {});
    for (std::size_t i = 0; i < space.size(); ++i) {
        EXPECT_EQ(space.find(space[i]), i);
        EXPECT_EQ(space.find(space.point(i)), i);
    }
    EXPECT_FALSE(space.find({{{"A", 3}, {"B", 4}}})) << "removed by a rule";
    EXPECT_FALSE(space.find({{{"A", 7}, {"B", 1}}})) << "not a value";
    EXPECT_FALSE(space.find({{{"A", 1}}})) << "a parameter is missing";
    EXPECT_FALSE(space.find({{{"A", 1}, {"C", 2}}})) << "not a parameter";
    EXPECT_FALSE(space.find({{{"A", 1}, {"B", 2}, {"C", 2}}})) << "one more than the parameters";
}

TEST(ParameterSpace, CanBeListed) {
    const std::vector<Parameter> parameters{{"A", {1, 2, 3}, 1, ""}, {"B", {10, 20}, 10, ""}};
    const ParameterSpace space(parameters, {{{{"A", 3}, {"B", 10}}}, {{{"A", 1}, {"B", 20}}}});
    ASSERT_EQ(space.size(), 2U);
    EXPECT_EQ(space.raw_size(), 6U);
    EXPECT_EQ(to_text(space[0]), "A=1,B=20") << "in lexicographic order";
    EXPECT_EQ(space.find({{{"A", 3}, {"B", 10}}}), 1U);
    EXPECT_THROW(ParameterSpace(parameters, {{{{"A", 4}, {"B", 10}}}}), std::invalid_argument);
}

TEST(ParameterSpace, AListedSpaceIsInTheSameOrderAsAnEnumeratedOne) {
    const std::vector<Parameter> parameters{parameter("A", {5, 1, 3}), parameter("B", {7}),
                                            parameter("C", first_numbers(300)), parameter("D", {2, 1})};
    const ParameterSpace enumerated(parameters, rules({"(A + C) % 3 == 0", "C % D == 0"}), {});
    std::vector<Configuration> shuffled;
    for (std::size_t i = 0; i < enumerated.size(); ++i) shuffled.push_back(enumerated[i]);
    std::ranges::shuffle(shuffled, std::mt19937(1));
    EXPECT_EQ(texts(ParameterSpace(parameters, shuffled)), texts(enumerated));
    for (std::size_t i = 1; i < enumerated.size(); ++i) {
        EXPECT_TRUE(std::ranges::lexicographical_compare(enumerated.point(i - 1), enumerated.point(i)));
    }
}

TEST(ParameterSpace, OfXgemmHasAsManyPointsAsItsPublicRecordings) {
    const Operations operations{
        {"gemm", parse_operation("gemm/operation.toml", builtin_sources().at("gemm/operation.toml")).value()}};
    std::ifstream file(SMEMTUNE_SOURCE_DIR "/bench/xgemm.toml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto xgemm = parse_template("xgemm.toml", text, operations).value();
    const auto space = declared_space(xgemm, gemm(4096, 4096, 4096), model_device("sm_86"));
    EXPECT_EQ(space.raw_size(), 82'944U);
    EXPECT_EQ(space.size(), 17'956U);
    EXPECT_EQ(removed(space) + space.size(), space.raw_size());
}

TEST(ParameterSpace, ErrorsNameWhatIsTooLargeAndWhatIsUnknown) {
    const auto refusal = [](const auto& make) -> std::string {
        try {
            make();
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal([] { ParameterSpace({parameter("A", first_numbers(65536))}, {}, {}); }),
              "parameter 'A' has more than 65535 values");
    EXPECT_EQ(ParameterSpace({parameter("A", first_numbers(65535))}, rules({"A > 65533"}), {}).size(), 1U);
    EXPECT_EQ(refusal([] {
                  const std::vector<Parameter> parameters(8, parameter("A", first_numbers(1000)));
                  ParameterSpace(parameters, {}, {});
              }),
              "the parameters have more than 2^64 combinations");
    EXPECT_EQ(refusal([] {
                  ParameterSpace({parameter("A", first_numbers(5000)), parameter("B", first_numbers(5000))}, {}, {});
              }),
              "more than 24 million valid configurations: add constraints");
    EXPECT_EQ(refusal([] { ParameterSpace({parameter("A", {1})}, rules({"A < B"}), {}); }),
              "constraint 'A < B': unknown name 'B'");
    EXPECT_EQ(refusal([] {
                  ParameterSpace({parameter("A", {1})}, std::vector<Configuration>{{{{"A", 2}}}});
              }),
              "'A=2' is not a point of its parameters");
}

}  // namespace
}  // namespace smemtune
