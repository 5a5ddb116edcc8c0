#include "templates/space/straight_line.h"

#include <algorithm>
#include <atomic>

namespace smemtune {

namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

StraightLine::StraightLine(std::vector<std::string> variables)
    : id_(next_id()),
      variables_(std::move(variables)),
      initial_(variables_.size()),
      is_constant_(variables_.size()),
      is_truth_(variables_.size()) {}

StraightLine::Slot StraightLine::add(const Expression& expression, const Environment& environment) {
    id_ = next_id();
    std::vector<Slot> names;
    for (const auto& name : expression.names()) {
        const auto variable = std::ranges::find(variables_, name);
        if (variable != variables_.end()) {
            names.push_back(static_cast<Slot>(variable - variables_.begin()));
            continue;
        }
        const auto value = environment.find(name);
        if (value == environment.end()) throw ExpressionError("'" + name + "' is unknown");
        names.push_back(constant({value->second, true}));
    }
    return convert(expression, 0, expression.code_.size(), names);
}

bool StraightLine::is_truth(Op op) {
    switch (op) {
        case Op::logical_not:
        case Op::to_bool:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
        case Op::equal:
        case Op::not_equal: return true;
        default: return false;
    }
}

StraightLine::Slot StraightLine::constant(Value value) {
    const auto slot = static_cast<Slot>(initial_.size());
    const auto [known, is_new] = constants_.try_emplace({value.number, value.exists}, slot);
    if (is_new) {
        initial_.push_back(value);
        is_constant_.push_back(true);
        is_truth_.push_back(value.exists && (value.number == 0 || value.number == 1));
    }
    return known->second;
}

// Returns the operand x that the result always equals; nothing if there is none. For example, x + 0, x - 0, x * 1 and x
// / 1 always equal x, and so does to_bool(x) if x is always 0 or 1.
std::optional<StraightLine::Slot> StraightLine::operand_equal_to(Op op, Slot a, Slot b) const {
    const auto is = [&](Slot operand, std::int64_t number) {
        return is_constant_[operand] && initial_[operand].exists && initial_[operand].number == number;
    };
    switch (op) {
        case Op::to_bool: return is_truth_[a] ? std::optional(a) : std::nullopt;
        case Op::add:
            if (is(a, 0)) return b;
            [[fallthrough]];
        case Op::subtract: return is(b, 0) ? std::optional(a) : std::nullopt;
        case Op::multiply:
            if (is(a, 1)) return b;
            [[fallthrough]];
        case Op::divide:
        case Op::ceil_div: return is(b, 1) ? std::optional(a) : std::nullopt;
        default: return std::nullopt;
    }
}

StraightLine::Slot StraightLine::node(Op op, Slot a, Slot b, Slot c) {
    if (const auto same = operand_equal_to(op, a, b)) return *same;
    const auto slot = static_cast<Slot>(initial_.size());
    const Node made{op, a, b, c, slot};
    if (op == Op::jump_if_zero && is_constant_[a]) {
        const auto& condition = initial_[a];
        return condition.exists ? (condition.number != 0 ? b : c) : constant({});
    }
    if (is_constant_[a] && is_constant_[b] && is_constant_[c]) return constant(value_of(made, initial_.data()));
    const auto [known, is_new] = known_.try_emplace({op, a, b, c}, slot);
    if (is_new) {
        nodes_.push_back(made);
        initial_.emplace_back();
        is_constant_.push_back(false);
        is_truth_.push_back(is_truth(op) || (op == Op::jump_if_zero && is_truth_[b] && is_truth_[c]));
    }
    return known->second;
}

// Converts code of the stack machine of Expression. This code has jumps only in these three forms, where A, B and C
// stand for the code of a, b and c:
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

// For speed, this function has its own code for the most frequent operators, and is inlined into the loops over all
// nodes.
[[gnu::always_inline]] inline StraightLine::Value StraightLine::value_of(const Node& node, const Value* values) {
    const auto a = values[node.a].number;
    const auto b = values[node.b].number;
    const bool both = values[node.a].exists && values[node.b].exists;
    if (node.op == Op::jump_if_zero) {
        if (!values[node.a].exists) return {};
        return values[a != 0 ? node.b : node.c];
    }
    if (!both) return {};
    std::int64_t result = 0;
    switch (node.op) {
        case Op::add:
            if (!__builtin_add_overflow(a, b, &result)) return {result, true};
            return {};
        case Op::subtract:
            if (!__builtin_sub_overflow(a, b, &result)) return {result, true};
            return {};
        case Op::multiply:
            if (!__builtin_mul_overflow(a, b, &result)) return {result, true};
            return {};
        case Op::less: return {a < b ? 1 : 0, true};
        case Op::less_equal: return {a <= b ? 1 : 0, true};
        case Op::greater: return {a > b ? 1 : 0, true};
        case Op::greater_equal: return {a >= b ? 1 : 0, true};
        case Op::equal: return {a == b ? 1 : 0, true};
        case Op::not_equal: return {a != b ? 1 : 0, true};
        case Op::to_bool: return {b != 0 ? 1 : 0, true};
        case Op::minimum: return {std::min(a, b), true};
        case Op::maximum: return {std::max(a, b), true};
        case Op::divide:
            if (b > 0) return {a / b, true};
            break;
        case Op::remainder:
            if (b > 0) return {a % b, true};
            break;
        case Op::ceil_div:
            if (b > 0) return {a / b + (a % b > 0 ? 1 : 0), true};
            break;
        default: break;
    }
    if (Expression::try_apply(node.op, a, b, result) != nullptr) return {};
    return {result, true};
}

std::optional<StraightLine::Value> StraightLine::constant_at(Slot slot) const {
    return is_constant_[slot] ? std::optional(initial_[slot]) : std::nullopt;
}

// Writes constants and variables to `values`. Returns the address of slot 0.
StraightLine::Value* StraightLine::begin(const Problem& problem, Values& values) const {
    if (values.line_ != id_ || values.values_.size() != initial_.size()) {  // after a move, `values` is empty
        values.values_ = initial_;
        values.line_ = id_;
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) values.values_[i] = {problem.extents[i].second, true};
    return values.values_.data();
}

// A node's level is one more than the largest level of its operands. The nodes of a level do not need one another, so
// they can be sorted by operator.
StraightLine::Part StraightLine::part(std::span<const Slot> slots, const Part& known) const {
    std::vector<bool> is_needed(initial_.size());
    for (const auto slot : slots) is_needed[slot] = true;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        const auto& node = nodes_[i];
        if (is_needed[node.to]) is_needed[node.a] = is_needed[node.b] = is_needed[node.c] = true;
    }
    for (const auto& node : known.nodes_) is_needed[node.to] = false;

    std::vector<std::size_t> level(initial_.size(), 0);
    Part part;
    for (const auto& node : nodes_) {
        level[node.to] = 1 + std::max({level[node.a], level[node.b], level[node.c]});
        if (is_needed[node.to]) part.nodes_.push_back(node);
    }
    const auto key = [&](const Node& node) { return std::pair(level[node.to], node.op); };
    std::ranges::stable_sort(part.nodes_, {}, key);
    for (std::size_t i = 1; i <= part.nodes_.size(); ++i) {
        if (i == part.nodes_.size() || key(part.nodes_[i]) != key(part.nodes_[i - 1])) part.batch_ends_.push_back(i);
    }
    return part;
}

template <StraightLine::Op op>
void StraightLine::compute(const Node* first, const Node* last, Value* values) {
    for (; first != last; ++first) {
        auto node = *first;
        node.op = op;  // a constant, so that value_of() is compiled for this operator alone
        values[node.to] = value_of(node, values);
    }
}

void StraightLine::compute_batch(const Node* first, const Node* last, Value* values) {
    switch (first->op) {
        case Op::jump_if_zero: return compute<Op::jump_if_zero>(first, last, values);
        case Op::add: return compute<Op::add>(first, last, values);
        case Op::subtract: return compute<Op::subtract>(first, last, values);
        case Op::multiply: return compute<Op::multiply>(first, last, values);
        case Op::divide: return compute<Op::divide>(first, last, values);
        case Op::ceil_div: return compute<Op::ceil_div>(first, last, values);
        case Op::remainder: return compute<Op::remainder>(first, last, values);
        case Op::minimum: return compute<Op::minimum>(first, last, values);
        case Op::maximum: return compute<Op::maximum>(first, last, values);
        case Op::less: return compute<Op::less>(first, last, values);
        case Op::less_equal: return compute<Op::less_equal>(first, last, values);
        case Op::greater: return compute<Op::greater>(first, last, values);
        case Op::greater_equal: return compute<Op::greater_equal>(first, last, values);
        case Op::equal: return compute<Op::equal>(first, last, values);
        case Op::not_equal: return compute<Op::not_equal>(first, last, values);
        case Op::to_bool: return compute<Op::to_bool>(first, last, values);
        default:
            for (; first != last; ++first) values[first->to] = value_of(*first, values);
    }
}

void StraightLine::evaluate(const Problem& problem, Values& values) const {
    auto* const slots = begin(problem, values);
    for (const auto& node : nodes_) slots[node.to] = value_of(node, slots);
}

void StraightLine::evaluate(const Problem& problem, const Part& part, Values& values) const {
    auto* const slots = begin(problem, values);
    std::size_t first = 0;
    for (const auto end : part.batch_ends_) {
        compute_batch(part.nodes_.data() + first, part.nodes_.data() + end, slots);
        first = end;
    }
}

bool StraightLine::evaluate(const Problem& problem, std::span<const Slot> rules, Values& values) const {
    auto* const slots = begin(problem, values);
    auto node = nodes_.begin();
    const auto run_up_to = [&](Slot slot) {
        for (; node != nodes_.end() && node->to <= slot; ++node) slots[node->to] = value_of(*node, slots);
    };
    for (const auto rule : rules) {
        run_up_to(rule);
        if (!slots[rule].exists || slots[rule].number == 0) return false;
    }
    if (!nodes_.empty()) run_up_to(nodes_.back().to);
    return true;
}

LoopNest::LoopNest(const StraightLine& line, const std::vector<std::vector<Slot>>& rules)
    : loops_(rules.size()), values_(line.initial_) {
    // The depth of the loop in which each slot gets its value: 0 for a constant, i + 1 for variable i.
    std::vector<std::size_t> loop_of(values_.size(), 0);
    for (std::size_t i = 0; i < line.variables_.size(); ++i) loop_of[i] = i + 1;
    for (const auto& node : line.nodes_) {
        loop_of[node.to] = std::max({loop_of[node.a], loop_of[node.b], loop_of[node.c]});
    }
    auto node = line.nodes_.begin();
    for (std::size_t depth = 0; depth < rules.size(); ++depth) {
        for (const auto rule : rules[depth]) {
            auto& check = loops_[depth].checks.emplace_back(Check{{}, rule});
            for (; node != line.nodes_.end() && node->to <= rule; ++node) {
                const auto own = loop_of[node->to];
                (own == depth ? check.nodes : loops_[own].rest).push_back(*node);
            }
        }
    }
}

std::size_t LoopNest::enter(std::size_t depth, std::int64_t value) {
    auto* const values = values_.data();
    if (depth > 0) values[depth - 1] = {value, true};
    const auto run = [&](const std::vector<StraightLine::Node>& nodes) {
        for (const auto& node : nodes) values[node.to] = StraightLine::value_of(node, values);
    };
    const auto& loop = loops_[depth];
    for (std::size_t i = 0; i < loop.checks.size(); ++i) {
        run(loop.checks[i].nodes);
        const auto& [number, exists] = values[loop.checks[i].rule];
        if (!exists || number == 0) return i;
    }
    run(loop.rest);
    return none;
}

}  // namespace smemtune
