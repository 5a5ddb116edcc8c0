// Integer expressions of a manifest, with C's operators and precedence. Values are 64-bit integers, and overflow is an
// error.
//
// This is our own code, because the common libraries (muParser, tinyexpr, exprtk) compute in double. They would round
// numbers above 2^53, and their `/` is not C's integer division.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

/// Thrown for an expression that is malformed or has no value, because of an unknown name, an overflow or a division by
/// zero. The message quotes the expression.
class ExpressionError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Names with their values, such as parameters, problem extents and `device.*` limits.
using Environment = std::map<std::string, std::int64_t, std::less<>>;

/// Operators: `?: || && | ^ & == != < <= > >= << >> + - * / % ! - ~ ()`; functions: min, max, ceil_div, round_up.
/// Comparisons and logic give 0 or 1; `&&`, `||` and `?:` skip the operands that C skips.
class Expression {
public:
    static constexpr std::array<std::string_view, 4> functions{"min", "max", "ceil_div", "round_up"};

    Expression() : Expression("0") {}
    /// Throws ExpressionError with the column of the syntax error.
    explicit Expression(std::string text);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Returns the names in the expression, each once, in order of first appearance.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Throws ExpressionError for an unknown name, an overflow of 64 bits or a division by zero.
    [[nodiscard]] std::int64_t evaluate(const Environment& environment) const;
    /// `values[i]` is the value of `names()[i]`.
    [[nodiscard]] std::int64_t evaluate(std::span<const std::int64_t> values) const;

    friend bool operator==(const Expression& a, const Expression& b) { return a.text_ == b.text_; }

private:
    friend class ExpressionParser;
    friend class StraightLine;  // in templates/space/straight_line.h
    enum class Op : std::uint8_t {
        constant,
        name,
        negate,
        invert,
        logical_not,
        add,
        subtract,
        multiply,
        divide,
        remainder,
        shift_left,
        shift_right,
        less,
        less_equal,
        greater,
        greater_equal,
        equal,
        not_equal,
        bit_and,
        bit_xor,
        bit_or,
        minimum,
        maximum,
        ceil_div,
        round_up,
        to_bool,
        jump,
        jump_if_zero,
        jump_if_zero_keep,
        jump_if_not_zero_keep,
    };
    struct Instruction {
        Op op{};
        std::int64_t operand = 0;  // a constant, an index into names_, or a jump target
    };

    // Writes the value to `result` and returns nullptr. If there is no value, returns the reason. Operators with one
    // operand use `right`.
    static const char* try_apply(Op op, std::int64_t left, std::int64_t right, std::int64_t& result);
    [[nodiscard]] std::int64_t apply(Op op, std::int64_t left, std::int64_t right) const;

    std::string text_;
    std::vector<std::string> names_;
    std::vector<Instruction> code_;  // the code for a stack machine
    std::size_t depth_ = 0;          // how many stack entries the code needs
};

}  // namespace smemtune
