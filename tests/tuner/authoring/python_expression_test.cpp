#include "tuner/authoring/python_expression.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace smemtune {
namespace {

using nlohmann::json;

std::string value_of(const std::string& text, const PythonExpression::Names& names = {}) {
    return PythonExpression(text).value(names).dump();
}

std::string message_of(const auto& call) {
    try {
        call();
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(PythonExpression, ListsOfValuesAreEvaluated) {
    EXPECT_EQ(value_of("[1, 2, 4]"), "[1,2,4]");
    EXPECT_EQ(value_of("[]"), "[]");
    EXPECT_EQ(value_of("list(range(3))"), "[0,1,2]");
    EXPECT_EQ(value_of("list(range(32, 128+1, 32))"), "[32,64,96,128]");
    EXPECT_EQ(value_of("range(3, 0, -1)"), "[3,2,1]");
    EXPECT_EQ(value_of("[1] + [2*i for i in range(1,4)]"), "[1,2,4,6]");
    EXPECT_EQ(value_of("[2**i for i in range(0, 4)]"), "[1,2,4,8]");
    EXPECT_EQ(value_of("[i for i in range(1, 13) if 12 % i == 0]"), "[1,2,3,4,6,12]");
    EXPECT_EQ(value_of("['float', \"float4\", True, 0.5, 1e-3]"), R"(["float","float4",true,0.5,0.001])");
}

TEST(PythonExpression, ArithmeticIsThatOfPython) {
    EXPECT_EQ(value_of("2 + 3 * 4 - 1"), "13");
    EXPECT_EQ(value_of("-7 // 2"), "-4");
    EXPECT_EQ(value_of("-7 % 3"), "2");
    EXPECT_EQ(value_of("7 // -2"), "-4");
    EXPECT_EQ(value_of("7 % -3"), "-2");
    EXPECT_EQ(value_of("7 // 2 * 2"), "6");
    EXPECT_EQ(value_of("7 / 2"), "3.5");
    EXPECT_EQ(value_of("-2 ** 2"), "-4");
    EXPECT_EQ(value_of("2 ** -1"), "0.5");
    EXPECT_EQ(value_of("1 + 2 if 1 > 2 else 3 * 3"), "9");
    EXPECT_EQ(value_of("1 <= 2 < 2"), "false");
    EXPECT_EQ(value_of("not 1 == 2 and 3 > 2"), "true");
    EXPECT_EQ(value_of("0 or 5"), "5");
    EXPECT_EQ(value_of("max(3, 9, 4) - min([7, 5]) + abs(-2)"), "6");
    EXPECT_EQ(value_of("P[0] * P[1] + max(w) - 1", {{"P", {4, 5}}, {"w", {3, 7}}}), "26");
}

TEST(PythonExpression, ConditionsBecomeThoseOfManifests) {
    const auto written = [](const std::string& text) { return PythonExpression(text).in_manifest({{"FIXED", 8}}); };
    EXPECT_EQ(written("a % b == 0"), "(a % b) == 0");
    EXPECT_EQ(written("32 <= a * b <= 1024"), "32 <= (a * b) && (a * b) <= 1024");
    EXPECT_EQ(written("a == 0 or (b and not c == 1)"), "(a == 0) || (b && (!(c == 1)))");
    EXPECT_EQ(written("(a // 2) * FIXED"), "(a / 2) * 8");
    EXPECT_EQ(written("a - (b - c)"), "a - (b - c)");
    EXPECT_EQ(written("min(a, b + 1) if a > 1 else -b"), "(a > 1) ? min(a, b + 1) : -b");
    EXPECT_EQ(written("T == 'float'"), "T == 'float'");
    EXPECT_EQ(written("2 ** 4 * 16"), "256");
}

TEST(PythonExpression, MistakesAreNamed) {
    const std::vector<std::pair<std::string, std::string>> refused{
        {"", "the expression ends too early"},
        {"1 +", "the expression ends too early"},
        {"(1", "')' is missing"},
        {"[1, 2", "',' is missing"},
        {"[1 2]", "',' is missing before '2'"},
        {"1 2", "'2' is not expected here"},
        {"'a", "a text does not end"},
        {"1.2.3", "'1.2.3' is no number"},
        {"x", "'x' is an unknown name"},
        {"open('f')", "'open' is an unknown function, or has unknown arguments"},
        {"1 // 0", "a division by 0"},
        {"1 / 0", "a division by 0"},
        {"[1][3]", "the index 3 is outside [1]"},
        {"[1][0 - 1]", "the index -1 is outside [1]"},
        {"'a' * 2", "'*' is for numbers, not for \"a\""},
        {"range(1, 5, 0)", "'range' has a step of 0"},
        {"range(1000000)", "'range' is too long"},
        {"9223372036854775807 + 1", "a number is too large"},
        {"2 ** 64", "a number is too large"},
        {"range(1.5)", "1.5 is no whole number"},
        {"(0 - 9223372036854775807 - 1) // (0 - 1)", "a number is too large"},
        {"(0 - 9223372036854775807 - 1) % (0 - 1)", "a number is too large"},
    };
    for (const auto& [text, message] : refused) {
        EXPECT_EQ(message_of([&text = text] { (void)value_of(text); }), message) << text;
    }
    EXPECT_EQ(value_of("range(0, 4611686018427387905, 4611686018427387904)"), "[0,4611686018427387904]");
    const auto written = [](const std::string& text) {
        return message_of([&] { (void)PythonExpression(text).in_manifest({}); });
    };
    EXPECT_EQ(written("a / b == 1"), "'/' gives a fraction; '//' is a division of whole numbers");
    EXPECT_EQ(written("a ** b"), "'**' is not in expressions of manifests");
    EXPECT_EQ(written("abs(a)"), "'abs' is not in expressions of manifests");
    EXPECT_EQ(written("a * 0.5"), "0.5 is neither a whole number nor a text");
}

TEST(PythonExpression, NestingIsLimited) {
    const auto repeated = [](const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all += text;
        return all;
    };
    for (const std::string& nested :
         {repeated("(", 100'000), repeated("- ", 100'000) + "1", repeated("not ", 100'000) + "1",
          "1" + repeated(" + 1", 100'000), "1" + repeated(" ** 1", 100'000), "[1]" + repeated("[0]", 100'000),
          repeated("[", 100'000)}) {
        EXPECT_EQ(message_of([&] { (void)value_of(nested); }), "the expression is nested too deeply")
            << nested.substr(0, 20);
    }
    EXPECT_EQ(value_of(repeated("(", 100) + "1" + repeated(" + 1)", 100)), "101");
}

}  // namespace
}  // namespace smemtune
