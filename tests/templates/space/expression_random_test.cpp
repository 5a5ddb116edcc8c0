// Evaluates random expressions in two ways: the library evaluates their text, and the test evaluates them in 128 bits
// while it generates them.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>

#include "templates/space/expression.h"

namespace smemtune {
namespace {

__extension__ using Wide = __int128;

// An expression with the value that C gives it; no value if C gives none. `level` is the precedence of its outermost
// operator.
struct Sample {
    std::string text;
    std::optional<std::int64_t> value;
    int level = 100;
};

std::optional<std::int64_t> narrow(Wide value) {
    if (value < std::numeric_limits<std::int64_t>::min() || value > std::numeric_limits<std::int64_t>::max()) return {};
    return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> combine(const std::string& op, std::int64_t left, std::int64_t right) {
    const Wide a = left;
    const Wide b = right;
    if (op == "+") return narrow(a + b);
    if (op == "-") return narrow(a - b);
    if (op == "*") return narrow(a * b);
    if (op == "/") return b == 0 ? std::nullopt : narrow(a / b);
    if (op == "%") return b == 0 || !narrow(a / b) ? std::nullopt : narrow(a % b);
    if (op == "<<") return b < 0 || b > 62 ? std::nullopt : narrow(a * (Wide{1} << right));
    if (op == ">>") return b < 0 || b > 62 ? std::nullopt : narrow(a >> right);
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    if (op == ">") return a > b;
    if (op == ">=") return a >= b;
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "&") return left & right;
    if (op == "^") return left ^ right;
    return left | right;
}

struct Operator {
    std::string text;
    int level;
};
// The precedences of C's operators as on cppreference.com, but with larger numbers for operators that bind more
// strongly.
const std::vector<Operator> operators{{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9}, {"-", 9},  {"<<", 8},
                                      {">>", 8}, {"<", 7},  {"<=", 7}, {">", 7}, {">=", 7}, {"==", 6},
                                      {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3}, {"&&", 2}, {"||", 1}};

class Generator {
public:
    Generator(unsigned seed, const Environment& names) : random_(seed), names_(names) {}

    Sample sample(int depth) {
        const auto kind = depth == 0 ? below(2) : below(10);
        if (kind == 0) return number();
        if (kind == 1) return name();
        if (kind == 2) return unary(depth);
        if (kind == 3) return ternary(depth);
        return binary(depth);
    }

private:
    std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

    // Adds parentheses if C needs them, and sometimes also if C does not need them.
    std::string wrapped(const Sample& sample, int least) {
        return sample.level < least || below(8) == 0 ? "(" + sample.text + ")" : sample.text;
    }

    Sample number() {
        static const std::vector<std::int64_t> numbers{
            0, 1, 2, 3, 7, 31, 62, 64, 8192, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()};
        const auto chosen = numbers[below(numbers.size())];
        return {std::to_string(chosen), chosen};
    }

    Sample name() {
        const auto chosen = std::next(names_.begin(), static_cast<std::ptrdiff_t>(below(names_.size())));
        return {chosen->first, chosen->second};
    }

    Sample unary(int depth) {
        const auto inner = sample(depth - 1);
        const auto op = std::string("-~!")[below(3)];
        Sample result{std::string(1, op) + " " + wrapped(inner, 11), std::nullopt, 11};
        if (!inner.value) return result;
        if (op == '-') result.value = narrow(-Wide{*inner.value});
        if (op == '~') result.value = ~*inner.value;
        if (op == '!') result.value = *inner.value == 0;
        return result;
    }

    Sample ternary(int depth) {
        const auto condition = sample(depth - 1);
        const auto yes = sample(depth - 1);
        const auto no = sample(depth - 1);
        Sample result{wrapped(condition, 1) + " ? " + wrapped(yes, 0) + " : " + wrapped(no, 0), std::nullopt, 0};
        if (condition.value) result.value = *condition.value != 0 ? yes.value : no.value;
        return result;
    }

    Sample binary(int depth) {
        const auto& [op, level] = operators[below(operators.size())];
        const auto left = sample(depth - 1);
        const auto right = sample(depth - 1);
        Sample result{wrapped(left, level) + " " + op + " " + wrapped(right, level + 1), std::nullopt, level};
        if (!left.value) return result;
        if (op == "&&" || op == "||") {
            const bool decided = (*left.value != 0) == (op == "||");
            if (decided)
                result.value = op == "||";
            else if (right.value)
                result.value = *right.value != 0;
        } else if (right.value) {
            result.value = combine(op, *left.value, *right.value);
        }
        return result;
    }

    std::mt19937 random_;
    const Environment& names_;
};

TEST(Expression, AgreesWithCOnRandomExpressions) {
    const Environment names{{"M", 4096}, {"n", -5},    {"zero", 0},
                            {"one", 1},  {"TILE", 16}, {"big", std::numeric_limits<std::int64_t>::min()}};
    int with_value = 0;
    int without = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        const auto sample = Generator(seed, names).sample(static_cast<int>(1 + seed % 5));
        std::optional<std::int64_t> found;
        const Expression expression(sample.text);  // must not throw, because every generated expression is well formed
        try {
            found = expression.evaluate(names);
        } catch (const ExpressionError&) {
            EXPECT_FALSE(found.has_value());
        }
        ASSERT_EQ(found, sample.value) << "seed " << seed << ": " << sample.text;
        ++(found ? with_value : without);
    }
    EXPECT_GT(with_value, 1000);  // the test needs enough expressions with a value and enough without
    EXPECT_GT(without, 300);
}

}  // namespace
}  // namespace smemtune
