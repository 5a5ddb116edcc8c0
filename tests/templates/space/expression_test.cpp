#include "templates/space/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();

const Environment environment{
    {"a", 7}, {"b", -3}, {"zero", 0}, {"least", least}, {"greatest", greatest}, {"device.warp_size", 32}};

std::int64_t value(const std::string& text) { return Expression(text).evaluate(environment); }

// Returns the error message for an expression, from its parsing or its evaluation.
std::string refusal(const std::string& text) {
    try {
        return "gives " + std::to_string(value(text));
    } catch (const ExpressionError& error) {
        return error.what();
    }
}

struct Case {
    std::string text;
    std::int64_t value;
};
std::ostream& operator<<(std::ostream& stream, const Case& each) { return stream << each.text; }

class ExpressionValues : public testing::TestWithParam<Case> {};

TEST_P(ExpressionValues, AreThoseOfC) { EXPECT_EQ(value(GetParam().text), GetParam().value); }

// The expected values are written as C++ expressions if C++ has the same operator, so that the compiler is the
// reference.
INSTANTIATE_TEST_SUITE_P(EveryOperator, ExpressionValues,
                         testing::Values(Case{"7 + 3", 10}, Case{"7 - 10", -3}, Case{"7 * -3", -21}, Case{"-7 / 2", -3},
                                         Case{"7 / -2", -3}, Case{"-7 % 3", -1}, Case{"7 % -3", 1}, Case{"5 << 3", 40},
                                         Case{"-5 << 1", -10}, Case{"40 >> 3", 5}, Case{"-5 >> 1", -3},
                                         Case{"3 < 4", 1}, Case{"4 < 4", 0}, Case{"4 <= 4", 1}, Case{"5 <= 4", 0},
                                         Case{"4 > 3", 1}, Case{"4 > 4", 0}, Case{"4 >= 4", 1}, Case{"3 >= 4", 0},
                                         Case{"3 == 3", 1}, Case{"3 == 4", 0}, Case{"3 != 4", 1}, Case{"3 != 3", 0},
                                         Case{"12 & 10", 8}, Case{"12 ^ 10", 6}, Case{"12 | 10", 14}, Case{"2 && 4", 1},
                                         Case{"2 && 0", 0}, Case{"0 || 4", 1}, Case{"0 || 0", 0}, Case{"!5", 0},
                                         Case{"!0", 1}, Case{"~5", -6}, Case{"-a", -7}, Case{"+a", 7},
                                         Case{"1 ? 2 : 3", 2}, Case{"0 ? 2 : 3", 3}, Case{"-5 ? 2 : 3", 2}));
INSTANTIATE_TEST_SUITE_P(EveryFunction, ExpressionValues,
                         testing::Values(Case{"min(3, -4)", -4}, Case{"max(3, -4)", 3}, Case{"ceil_div(7, 2)", 4},
                                         Case{"ceil_div(8, 2)", 4}, Case{"ceil_div(-7, 2)", -3},
                                         Case{"ceil_div(-7, -2)", 4}, Case{"ceil_div(0, 5)", 0},
                                         Case{"round_up(17, 16)", 32}, Case{"round_up(16, 16)", 16},
                                         Case{"round_up(0, 16)", 0}, Case{"round_up(-17, 16)", -16},
                                         Case{"min(1 ? 2 : 3, max(4, 5))", 2}, Case{"min (1, 2)", 1}));
INSTANTIATE_TEST_SUITE_P(Precedence, ExpressionValues,
                         testing::Values(Case{"2 + 3 * 4", 14}, Case{"(2 + 3) * 4", 20}, Case{"20 - 5 - 3", 12},
                                         Case{"100 / 5 / 2", 10}, Case{"100 / 5 * 2", 40}, Case{"17 % 10 * 3", 21},
                                         Case{"1 << 2 + 3", 32}, Case{"64 >> 2 >> 1", 8}, Case{"1 << 3 < 9", 1},
                                         Case{"1 < 2 == 2 > 1", 1}, Case{"3 > 2 > 1", 0}, Case{"6 & 3 == 3", 0},
                                         Case{"1 | 6 ^ 2 & 3", 5}, Case{"4 ^ 4 | 1", 1}, Case{"1 | 0 && 0", 0},
                                         Case{"1 || 0 && 0", 1}, Case{"0 && 0 || 1", 1}, Case{"1 ? 2 : 0 ? 4 : 5", 2},
                                         Case{"0 ? 2 : 0 ? 4 : 5", 5}, Case{"1 ? 0 ? 1 : 2 : 3", 2},
                                         Case{"0 || 1 ? 2 : 3", 2}, Case{"-2 * -3", 6}, Case{"~1 + 1", -1},
                                         Case{"!0 + 1", 2}, Case{"- - 5", 5}, Case{"-~!0", 2}, Case{"2*-3", -6},
                                         Case{"1<-1", 0}, Case{"5 - -5", 10}, Case{"8 == 8 & 1", 1}));

TEST(Expression, IsExactTo64Bits) {
    EXPECT_EQ(value("8192 * 8192 * 8192"), 549755813888);
    EXPECT_EQ(value("8192 * 8192 * 8192 * 8192"), 4503599627370496);
    EXPECT_EQ(value("8192 * 8192 * 8192 * 8192 + 1"), 4503599627370497);
    EXPECT_EQ(value("3037000499 * 3037000499"), 9223372030926249001);  // a double cannot represent this number
    EXPECT_EQ(value("9223372036854775807"), greatest);
    EXPECT_EQ(value("-9223372036854775807 - 1"), least);
}

TEST(Expression, NothingWrapsAround) {
    for (const auto* text : {"greatest + 1", "least - 1", "greatest * 2", "least * -1", "-least", "least / -1",
                             "least % -1", "ceil_div(least, -1)", "round_up(greatest, 2)", "1 << 62 << 1",
                             "greatest << 1", "8192 * 8192 * 8192 * 8192 * 8192"}) {
        EXPECT_THAT(refusal(text), HasSubstr("overflow of 64 bits")) << text;
    }
}

TEST(Expression, DivisionByZeroIsAnError) {
    for (const auto* text : {"a / zero", "a % zero", "ceil_div(a, zero)", "round_up(a, zero)", "0 / 0"}) {
        EXPECT_THAT(refusal(text), HasSubstr("division by zero")) << text;
    }
}

TEST(Expression, ShiftsBeyond62BitsAreErrors) {
    EXPECT_EQ(value("1 << 62"), std::int64_t{1} << 62);
    EXPECT_EQ(value("least >> 62"), -2);
    for (const auto* text : {"1 << 63", "1 << -1", "1 >> 63", "1 >> b", "0 << 64"}) {
        EXPECT_THAT(refusal(text), HasSubstr("shift by less than 0 or more than 62 bits")) << text;
    }
}

TEST(Expression, EvaluatesOnlyWhatCWould) {
    EXPECT_EQ(value("zero && 1 / zero"), 0);
    EXPECT_EQ(value("a || 1 / zero"), 1);
    EXPECT_EQ(value("zero ? 1 / zero : 5"), 5);
    EXPECT_EQ(value("a ? 5 : 1 / zero"), 5);
    EXPECT_EQ(value("zero && 1 / zero && 1 / zero"), 0);
    EXPECT_EQ(value("a || 1 / zero || 1 / zero"), 1);
    EXPECT_EQ(value("zero && 1 / zero || a"), 1);
    EXPECT_EQ(value("(zero && 1 / zero) + 10"), 10);
    EXPECT_EQ(value("zero != 0 && a % zero == 0 ? 1 : 2"), 2);
    EXPECT_THAT(refusal("a && 1 / zero"), HasSubstr("division by zero"));
    EXPECT_THAT(refusal("a ? 1 / zero : 5"), HasSubstr("division by zero"));
    EXPECT_THAT(refusal("min(a, 1 / zero)"), HasSubstr("division by zero"));
}

TEST(Expression, ErrorsNameTheColumnOfTheFirstCharacterThatDoesNotFit) {
    const std::vector<std::pair<std::string, std::string>> expected{
        {"", "column 1: expected a number or a name"},
        {"   ", "column 4: expected a number or a name"},
        {"1 +", "column 4: expected a number or a name"},
        {"1 + * 2", "column 5: expected a number or a name"},
        {"(1 + 2", "column 7: expected ')'"},
        {"1 + 2)", "column 6: unexpected ')'"},
        {"a = 1", "column 3: unexpected '='"},
        {"a b", "column 3: unexpected 'b'"},
        {"1 ? 2", "column 6: expected ':'"},
        {"min(1)", "column 6: expected ','"},
        {"min(1, 2, 3)", "column 9: expected ')'"},
        {"1 + sqrt(4)", "column 5: unknown function 'sqrt'; known: min, max, ceil_div, round_up"},
        {"1 + 9223372036854775808", "column 5: number does not fit in 64 bits"},
        {"1.5", "column 2: only whole decimal numbers are known"},
        {"0x10", "column 2: only whole decimal numbers are known"},
        {"2K", "column 2: only whole decimal numbers are known"},
        {"a ** 2", "column 4: expected a number or a name"},
        {"a, b", "column 2: unexpected ','"},
        {"a $ b", "column 3: unexpected '$'"},
        {"\xc3\xa4", "column 1: expected a number or a name"},
    };
    for (const auto& [text, message] : expected) {
        EXPECT_EQ(refusal(text), "expression '" + text + "', " + message);
    }
}

TEST(Expression, AnUnknownNameIsAnErrorEvenWhereItIsNotEvaluated) {
    EXPECT_EQ(refusal("a + TILE_WITDH"), "expression 'a + TILE_WITDH': unknown name 'TILE_WITDH'");
    EXPECT_THAT(refusal("zero && TILE_WITDH"), HasSubstr("unknown name 'TILE_WITDH'"));
}

TEST(Expression, NamesAreListedOnceInOrderOfAppearance) {
    const Expression expression("b * a + min(b, device.warp_size) + a_2 + _x");
    EXPECT_THAT(expression.names(), ElementsAre("b", "a", "device.warp_size", "a_2", "_x"));
    EXPECT_EQ(value("device.warp_size * 2"), 64);
}

TEST(Expression, DeepNestingIsRefusedRatherThanOverflowingAStack) {
    const auto repeat = [](const std::string& text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += text;
        return result;
    };
    EXPECT_EQ(value(repeat("(", 50) + "1" + repeat(")", 50)), 1);
    EXPECT_EQ(value(repeat("1 + (", 50) + "1" + repeat(")", 50)), 51);
    EXPECT_EQ(value(repeat("1 + ", 100000) + "1"), 100001);  // a long expression without nesting is not deep
    for (const auto& text :
         {repeat("(", 100000) + "1" + repeat(")", 100000), repeat("-", 100000) + "1", repeat("1 ? 1 : ", 100000) + "1",
          repeat("1 + (", 70) + "1" + repeat(")", 70), repeat("min(1, ", 100000) + "1" + repeat(")", 100000)}) {
        EXPECT_THAT(refusal(text), HasSubstr("nested too deeply")) << text.substr(0, 40);
    }
}

TEST(Expression, ReadsValuesInTheOrderOfItsNames) {
    EXPECT_EQ(Expression("x - y * x").evaluate(std::vector<std::int64_t>{10, 5}), 10 - 5 * 10);
}

TEST(Expression, ADefaultOneIsZero) { EXPECT_EQ(Expression().evaluate(Environment{}), 0); }

TEST(Expression, TheStackHolds64Values) {
    const auto nested = [](int depth) {
        std::string text = "1";
        for (int i = 1; i < depth; ++i) text = "1 + (" + text + ")";
        return text;
    };
    EXPECT_EQ(value(nested(64)), 64);
    EXPECT_THAT(refusal(nested(65)), HasSubstr("nested too deeply"));
    EXPECT_EQ(value("1 ? 1 : " + nested(63)), 1) << "only one branch runs";
}

TEST(Expression, TextsAreValuesThatMustBeWritable) {
    EXPECT_EQ(value("'a' == 'a'"), 1);
    EXPECT_EQ(value("'a' == \"a\""), 1) << "either quote";
    EXPECT_EQ(value("'a' != 'b'"), 1);
    EXPECT_EQ(value("'a' < 0"), 1);
    EXPECT_EQ(value("'a' == 'b' ? 1 : 2"), 2);
    EXPECT_EQ(refusal("1 + 'a"), "expression '1 + 'a', column 5: the quote is not closed");
    EXPECT_EQ(refusal("'a\""), "expression ''a\"', column 1: the quote is not closed");
    EXPECT_EQ(refusal("a == '7'"), "expression 'a == '7'', column 6: no parameter can have this value");
    EXPECT_EQ(refusal("''"), "expression '''', column 1: no parameter can have this value");
    EXPECT_EQ(refusal("'a' b"), "expression ''a' b', column 5: unexpected 'b'");
}

}  // namespace
}  // namespace smemtune
