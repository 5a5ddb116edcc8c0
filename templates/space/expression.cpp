// Parses expressions by precedence climbing into code for a stack machine, and runs this code.
#include "templates/space/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "templates/space/value.h"

namespace smemtune {

namespace {

constexpr std::size_t max_depth = 64;  // a fixed stack size, so that evaluation allocates no memory

}  // namespace

class ExpressionParser {
public:
    explicit ExpressionParser(Expression& expression) : expression_(expression), text_(expression.text_) {}

    void parse() {
        ternary();
        skip_space();
        if (at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "'");
    }

private:
    using Op = Expression::Op;
    struct Binary {
        std::string_view token;
        int precedence;
        Op op;
    };
    // Longer tokens come first, so that `<=` is not read as `<`.
    static constexpr std::array binaries{
        Binary{"<<", 8, Op::shift_left},    Binary{">>", 8, Op::shift_right}, Binary{"<=", 7, Op::less_equal},
        Binary{">=", 7, Op::greater_equal}, Binary{"==", 6, Op::equal},       Binary{"!=", 6, Op::not_equal},
        Binary{"<", 7, Op::less},           Binary{">", 7, Op::greater},      Binary{"&", 5, Op::bit_and},
        Binary{"^", 4, Op::bit_xor},        Binary{"|", 3, Op::bit_or},       Binary{"+", 9, Op::add},
        Binary{"-", 9, Op::subtract},       Binary{"*", 10, Op::multiply},    Binary{"/", 10, Op::divide},
        Binary{"%", 10, Op::remainder},
    };

    [[noreturn]] void fail(const std::string& what) const {
        throw ExpressionError("expression '" + text_ + "', column " + std::to_string(at_ + 1) + ": " + what);
    }

    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    bool accept(std::string_view token) {
        skip_space();
        if (std::string_view(text_).substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }

    void expect(std::string_view token) {
        if (!accept(token)) fail("expected '" + std::string(token) + "'");
    }

    // `change`: by how much the instruction changes the stack's height.
    std::size_t emit(Op op, int change, std::int64_t operand = 0) {
        height_ += change;
        expression_.depth_ = std::max(expression_.depth_, static_cast<std::size_t>(height_));
        if (expression_.depth_ > max_depth) fail("nested too deeply");
        expression_.code_.push_back({op, operand});
        return expression_.code_.size() - 1;
    }

    void land(std::size_t jump) {
        expression_.code_[jump].operand = static_cast<std::int64_t>(expression_.code_.size());
    }

    void ternary() {
        if (++nesting_ > 200) fail("nested too deeply");
        logical_or();
        if (accept("?")) {
            const auto to_else = emit(Op::jump_if_zero, -1);
            ternary();
            expect(":");
            const auto to_end = emit(Op::jump, -1);  // only one of the two branches pushes a value
            land(to_else);
            ternary();
            land(to_end);
        }
        --nesting_;
    }

    void logical_or() {
        logical_and();
        while (accept("||")) {
            const auto to_end = emit(Op::jump_if_not_zero_keep, -1);
            logical_and();
            emit(Op::to_bool, 0);
            land(to_end);
        }
    }

    void logical_and() {
        binary(3);
        while (accept("&&")) {
            const auto to_end = emit(Op::jump_if_zero_keep, -1);
            binary(3);
            emit(Op::to_bool, 0);
            land(to_end);
        }
    }

    std::optional<Binary> next_binary() {
        skip_space();
        const auto rest = std::string_view(text_).substr(at_);
        if (rest.starts_with("&&") || rest.starts_with("||")) return std::nullopt;
        const auto* found = std::ranges::find_if(binaries, [&](const Binary& b) { return rest.starts_with(b.token); });
        return found == binaries.end() ? std::nullopt : std::optional(*found);
    }

    void binary(int lowest) {
        unary();
        for (auto next = next_binary(); next && next->precedence >= lowest; next = next_binary()) {
            at_ += next->token.size();
            binary(next->precedence + 1);
            emit(next->op, -1);
        }
    }

    void unary() {
        if (++nesting_ > 200) fail("nested too deeply");
        if (accept("-")) {
            unary();
            emit(Op::negate, 0);
        } else if (accept("~")) {
            unary();
            emit(Op::invert, 0);
        } else if (accept("!")) {
            unary();
            emit(Op::logical_not, 0);
        } else if (accept("+")) {
            unary();
        } else {
            primary();
        }
        --nesting_;
    }

    void primary() {
        skip_space();
        if (at_ == text_.size()) fail("expected a number or a name");
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (accept("(")) {
            ternary();
            expect(")");
        } else if (std::isdigit(c) != 0) {
            number();
        } else if (std::isalpha(c) != 0 || c == '_') {
            name();
        } else if (c == '\'' || c == '"') {
            text();
        } else {
            fail("expected a number or a name");
        }
    }

    void number() {
        std::int64_t value = 0;
        const auto* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail("number does not fit in 64 bits");
        at_ += static_cast<std::size_t>(end - begin);
        if (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')) {
            fail("only whole decimal numbers are known");
        }
        emit(Op::constant, 1, value);
    }

    // Parses a quoted text: a parameter's value that is not a whole number.
    void text() {
        const auto end = text_.find(text_[at_], at_ + 1);
        if (end == std::string::npos) fail("the quote is not closed");
        const auto value = std::string_view(text_).substr(at_ + 1, end - at_ - 1);
        if (!is_value_text(value)) fail("no parameter can have this value");
        emit(Op::constant, 1, text_value(value));
        at_ = end + 1;
    }

    void name() {
        const auto begin = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == '.')) {
            ++at_;
        }
        const auto word = text_.substr(begin, at_ - begin);
        if (accept("(")) {
            call(word, begin);
            return;
        }
        auto& names = expression_.names_;
        const auto found = std::ranges::find(names, word);
        const auto slot = found - names.begin();
        if (found == names.end()) names.push_back(word);
        emit(Op::name, 1, slot);
    }

    void call(const std::string& word, std::size_t begin) {
        static const std::map<std::string, Op> functions{
            {"min", Op::minimum}, {"max", Op::maximum}, {"ceil_div", Op::ceil_div}, {"round_up", Op::round_up}};
        const auto function = functions.find(word);
        if (function == functions.end()) {
            at_ = begin;
            fail("unknown function '" + word + "'; known: min, max, ceil_div, round_up");
        }
        ternary();
        expect(",");
        ternary();
        expect(")");
        emit(function->second, -1);
    }

    Expression& expression_;
    const std::string& text_;
    std::size_t at_ = 0;
    int height_ = 0;
    int nesting_ = 0;
};

Expression::Expression(std::string text) : text_(std::move(text)) { ExpressionParser(*this).parse(); }

const char* Expression::try_apply(Op op, std::int64_t left, std::int64_t right, std::int64_t& result) {
    constexpr const char* overflow = "overflow of 64 bits";
    const auto indivisible = [&]() -> const char* {
        if (right == 0) return "division by zero";
        return left == std::numeric_limits<std::int64_t>::min() && right == -1 ? overflow : nullptr;
    };
    const auto ceil_div = [&] { return left / right + ((left % right != 0 && (left < 0) == (right < 0)) ? 1 : 0); };
    const auto* const unshiftable = right < 0 || right > 62 ? "shift by less than 0 or more than 62 bits" : nullptr;
    switch (op) {
        case Op::negate: return __builtin_sub_overflow(std::int64_t{0}, right, &result) ? overflow : nullptr;
        case Op::add: return __builtin_add_overflow(left, right, &result) ? overflow : nullptr;
        case Op::subtract: return __builtin_sub_overflow(left, right, &result) ? overflow : nullptr;
        case Op::multiply: return __builtin_mul_overflow(left, right, &result) ? overflow : nullptr;
        case Op::shift_left:
            if (unshiftable != nullptr) return unshiftable;
            return __builtin_mul_overflow(left, std::int64_t{1} << right, &result) ? overflow : nullptr;
        case Op::shift_right:
            if (unshiftable == nullptr) result = left >> right;
            return unshiftable;
        case Op::divide:
        case Op::remainder:
        case Op::ceil_div:
        case Op::round_up:
            if (const auto* error = indivisible()) return error;
            if (op == Op::round_up) return __builtin_mul_overflow(ceil_div(), right, &result) ? overflow : nullptr;
            result = op == Op::divide ? left / right : op == Op::remainder ? left % right : ceil_div();
            return nullptr;
        case Op::less: result = left < right ? 1 : 0; return nullptr;
        case Op::less_equal: result = left <= right ? 1 : 0; return nullptr;
        case Op::greater: result = left > right ? 1 : 0; return nullptr;
        case Op::greater_equal: result = left >= right ? 1 : 0; return nullptr;
        case Op::equal: result = left == right ? 1 : 0; return nullptr;
        case Op::not_equal: result = left != right ? 1 : 0; return nullptr;
        case Op::bit_and: result = left & right; return nullptr;
        case Op::bit_xor: result = left ^ right; return nullptr;
        case Op::bit_or: result = left | right; return nullptr;
        case Op::minimum: result = std::min(left, right); return nullptr;
        case Op::maximum: result = std::max(left, right); return nullptr;
        case Op::invert: result = ~right; return nullptr;
        case Op::logical_not: result = right == 0 ? 1 : 0; return nullptr;
        case Op::to_bool: result = right != 0 ? 1 : 0; return nullptr;
        default: throw std::logic_error("not an operator");
    }
}

std::int64_t Expression::apply(Op op, std::int64_t left, std::int64_t right) const {
    std::int64_t result = 0;
    if (const auto* error = try_apply(op, left, right, result)) {
        throw ExpressionError("expression '" + text_ + "': " + error);
    }
    return result;
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
    std::array<std::int64_t, max_depth> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as it grows
    std::size_t top = 0;
    for (std::size_t i = 0; i < code_.size(); ++i) {
        const auto op = code_[i].op;
        const auto operand = code_[i].operand;
        const auto jump = [&] { i = static_cast<std::size_t>(operand) - 1; };
        switch (op) {
            case Op::constant: stack[top++] = operand; break;
            case Op::name: stack[top++] = values[static_cast<std::size_t>(operand)]; break;
            case Op::jump: jump(); break;
            case Op::jump_if_zero:
                if (stack[--top] == 0) jump();
                break;
            case Op::jump_if_zero_keep:
            case Op::jump_if_not_zero_keep: {
                const bool truth = stack[--top] != 0;
                if (truth != (op == Op::jump_if_not_zero_keep)) break;
                stack[top++] = truth ? 1 : 0;
                jump();
                break;
            }
            case Op::negate:
            case Op::invert:
            case Op::logical_not:
            case Op::to_bool: stack[top - 1] = apply(op, 0, stack[top - 1]); break;
            default: --top; stack[top - 1] = apply(op, stack[top - 1], stack[top]);
        }
    }
    return stack[0];
}

std::int64_t Expression::evaluate(const Environment& environment) const {
    std::vector<std::int64_t> values;
    values.reserve(names_.size());
    for (const auto& name : names_) {
        const auto found = environment.find(name);
        if (found == environment.end())
            throw ExpressionError("expression '" + text_ + "': unknown name '" + name + "'");
        values.push_back(found->second);
    }
    return evaluate(values);
}

}  // namespace smemtune
