#include "templates/predict/straight_line.h"

#include <algorithm>

namespace smemtune {

StraightLine::StraightLine(std::vector<std::string> extents) : extents_(std::move(extents)) {
    nodes_.resize(extents_.size());
}

StraightLine::Slot StraightLine::add(const Expression& expression, const Environment& environment) {
    std::vector<Slot> names;
    for (const auto& name : expression.names()) {
        const auto extent = std::ranges::find(extents_, name);
        if (extent != extents_.end()) {
            names.push_back(static_cast<Slot>(extent - extents_.begin()));
            continue;
        }
        const auto value = environment.find(name);
        if (value == environment.end()) throw ExpressionError("'" + name + "' is unknown");
        names.push_back(constant({value->second, true}));
    }
    return convert(expression, 0, expression.code_.size(), names);
}

StraightLine::Slot StraightLine::constant(Value value) {
    const auto [known, is_new] = constants_.try_emplace({value.number, value.exists}, static_cast<Slot>(nodes_.size()));
    if (is_new) nodes_.push_back({.constant = value});
    return known->second;
}

StraightLine::Slot StraightLine::node(Op op, Slot a, Slot b, Slot c) {
    const Node made{.op = op, .a = a, .b = b, .c = c};
    const auto is_constant = [&](Slot slot) { return slot >= extents_.size() && nodes_[slot].op == Op::constant; };
    if (op == Op::jump_if_zero && is_constant(a)) {
        const auto& condition = nodes_[a].constant;
        return condition.exists ? (condition.number != 0 ? b : c) : constant({});
    }
    if (is_constant(a) && is_constant(b) && is_constant(c)) {
        std::vector<Value> values(std::max({a, b, c}) + 1);
        for (const auto slot : {a, b, c}) values[slot] = nodes_[slot].constant;
        return constant(value_of(made, values.data()));
    }
    const auto [known, is_new] = known_.try_emplace({op, a, b, c}, static_cast<Slot>(nodes_.size()));
    if (is_new) nodes_.push_back(made);
    return known->second;
}

// The code of a stack machine has three forms with jumps, as ExpressionParser emits them:
//     a ? b : c    A; jump_if_zero to C; B; jump to the end; C
//     a && b       A; jump_if_zero_keep to the end; B; to_bool
//     a || b       A; jump_if_not_zero_keep to the end; B; to_bool
StraightLine::Slot StraightLine::convert(const Expression& expression, std::size_t begin, std::size_t end,
                                         std::span<const Slot> names) {
    std::vector<Slot> stack;
    const auto pop = [&] {
        const auto top = stack.back();
        stack.pop_back();
        return top;
    };
    for (auto i = begin; i < end; ++i) {
        const auto [op, operand] = expression.code_[i];
        const auto target = static_cast<std::size_t>(operand);
        switch (op) {
            case Op::constant: stack.push_back(constant({operand, true})); break;
            case Op::name: stack.push_back(names[target]); break;
            case Op::jump_if_zero: {
                const auto condition = pop();
                const auto after = static_cast<std::size_t>(expression.code_[target - 1].operand);
                const auto then = convert(expression, i + 1, target - 1, names);
                stack.push_back(node(op, condition, then, convert(expression, target, after, names)));
                i = after - 1;
                break;
            }
            case Op::jump_if_zero_keep:
            case Op::jump_if_not_zero_keep: {
                const auto left = pop();
                const auto right = convert(expression, i + 1, target, names);
                const bool is_and = op == Op::jump_if_zero_keep;
                const auto decided = constant({is_and ? 0 : 1, true});
                stack.push_back(node(Op::jump_if_zero, left, is_and ? right : decided, is_and ? decided : right));
                i = target - 1;
                break;
            }
            case Op::negate:
            case Op::invert:
            case Op::logical_not:
            case Op::to_bool: {
                const auto only = pop();
                stack.push_back(node(op, only, only, only));
                break;
            }
            default: {
                const auto right = pop();
                const auto left = pop();
                stack.push_back(node(op, left, right, right));
            }
        }
    }
    return stack.back();
}

// The most frequent operators are written out here, so that the compiler inlines them into the loop.
inline StraightLine::Value StraightLine::value_of(const Node& node, const Value* values) {
    const auto& a = values[node.a];
    const auto& b = values[node.b];
    if (node.op == Op::jump_if_zero) return a.exists ? (a.number != 0 ? b : values[node.c]) : Value{};
    if (!a.exists || !b.exists) return {};
    Value result{0, true};
    switch (node.op) {
        case Op::add: result.exists = !__builtin_add_overflow(a.number, b.number, &result.number); break;
        case Op::multiply: result.exists = !__builtin_mul_overflow(a.number, b.number, &result.number); break;
        case Op::less_equal: result.number = a.number <= b.number ? 1 : 0; break;
        case Op::greater_equal: result.number = a.number >= b.number ? 1 : 0; break;
        case Op::equal: result.number = a.number == b.number ? 1 : 0; break;
        case Op::minimum: result.number = std::min(a.number, b.number); break;
        case Op::maximum: result.number = std::max(a.number, b.number); break;
        default: result.exists = Expression::try_apply(node.op, a.number, b.number, result.number) == nullptr;
    }
    return result;
}

void StraightLine::begin(const Problem& problem, std::vector<Value>& values) const {
    if (values.size() < nodes_.size()) values.resize(nodes_.size());
    for (std::size_t i = 0; i < extents_.size(); ++i) values[i] = {problem.extents[i].second, true};
}

void StraightLine::run(std::size_t from, std::size_t to, Value* values) const {
    for (auto i = from; i < to; ++i) {
        const auto& node = nodes_[i];
        values[i] = node.op == Op::constant ? node.constant : value_of(node, values);
    }
}

void StraightLine::evaluate(const Problem& problem, std::vector<Value>& values) const {
    begin(problem, values);
    run(extents_.size(), nodes_.size(), values.data());
}

bool StraightLine::evaluate(const Problem& problem, std::span<const Slot> rules, std::vector<Value>& values) const {
    begin(problem, values);
    auto done = extents_.size();
    for (const auto rule : rules) {
        if (rule >= done) {
            run(done, rule + 1, values.data());
            done = rule + 1;
        }
        if (!values[rule].exists || values[rule].number == 0) return false;
    }
    run(done, nodes_.size(), values.data());
    return true;
}

}  // namespace smemtune
