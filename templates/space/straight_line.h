// Expressions of the same variables, compiled to one list of operations without branches. Common subexpressions are
// computed once. Subexpressions that depend on no variable are computed when they are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "templates/space/expression.h"
#include "templates/space/problem.h"

namespace smemtune {

class StraightLine {
public:
    /// The index of an expression's value.
    using Slot = std::uint32_t;
    struct Value {
        std::int64_t number;
        bool exists;  ///< false: a division by zero or an overflow of 64 bits
    };

    /// The first slots hold the variables, in this order.
    explicit StraightLine(std::vector<std::string> variables);

    /// `environment` holds every name but the variables. Throws ExpressionError for an unknown name.
    Slot add(const Expression& expression, const Environment& environment);

    /// Computes the values of all slots into `values`. Allocates nothing if `values` has the capacity. Precondition:
    /// the variables are the problem's extents.
    void evaluate(const Problem& problem, std::vector<Value>& values) const;
    /// The same, but ends as soon as one of `rules` is 0 or has no value. Returns whether all hold. Add the rules
    /// before all other expressions, in this order.
    bool evaluate(const Problem& problem, std::span<const Slot> rules, std::vector<Value>& values) const;

private:
    friend class LoopNest;
    using Op = Expression::Op;
    struct Node {
        Op op;  // jump_if_zero: `a ? b : c`
        Slot a, b, c;
        Slot to;  // the slot of its value
    };

    [[nodiscard]] static bool is_truth(Op op);
    Slot constant(Value value);
    Slot node(Op op, Slot a, Slot b, Slot c = 0);
    Slot convert(const Expression& expression, std::size_t begin, std::size_t end, std::span<const Slot> names);
    [[nodiscard]] static Value value_of(const Node& node, const Value* values);
    void begin(const Problem& problem, std::vector<Value>& values) const;

    std::vector<std::string> variables_;
    std::vector<Node> nodes_;     // in an order in which each needs only values before its own
    std::vector<Value> initial_;  // of each slot: its value if it is a constant
    std::vector<bool> is_constant_;
    std::vector<bool> is_truth_;  // 0 or 1 where it has a value
    std::map<std::tuple<Op, Slot, Slot, Slot>, Slot> known_;
    std::map<std::pair<std::int64_t, bool>, Slot> constants_;
};

/// The operations of a StraightLine in nested loops over its variables, the first one outermost. Each operation is
/// computed in the outermost loop that has all variables it depends on.
class LoopNest {
public:
    using Slot = StraightLine::Slot;

    /// `rules[depth]` are checked when the first `depth` variables have values. Precondition: the rules were added to
    /// the line in the order in which they are checked, and depend on no later variable.
    LoopNest(const StraightLine& line, const std::vector<std::vector<Slot>>& rules);

    static constexpr std::size_t none = SIZE_MAX;

    /// Gives the variable of the loop at `depth` - 1 a value, then checks the rules of `depth`. Returns the index in
    /// `rules[depth]` of the first that is 0 or has no value, or `none`. Afterwards all loops further in are undecided.
    /// Depth 0 has no variable and comes first.
    std::size_t enter(std::size_t depth, std::int64_t value);
    /// Whether the rule that the last enter() returned has a value, which is then 0.
    [[nodiscard]] bool exists(Slot rule) const { return values_[rule].exists; }

private:
    struct Check {
        std::vector<StraightLine::Node> nodes;  // what the rule needs and no earlier one of this loop did
        Slot rule;
    };
    struct Loop {
        std::vector<Check> checks;
        std::vector<StraightLine::Node> rest;  // what rules further in need
    };

    std::vector<Loop> loops_;
    std::vector<StraightLine::Value> values_;
};

}  // namespace smemtune
