// Expressions that depend only on the extents, compiled to one list of operations without branches. Common
// subexpressions are computed once. Subexpressions that do not depend on the extents are computed when they are added.
#pragma once

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

    /// The first slots hold the extents, in this order.
    explicit StraightLine(std::vector<std::string> extents);

    /// `environment` holds every name but the extents. Throws ExpressionError for an unknown name.
    Slot add(const Expression& expression, const Environment& environment);

    /// Computes the values of all slots into `values`. Allocates nothing if `values` has the capacity. Precondition:
    /// the problem has these extents.
    void evaluate(const Problem& problem, std::vector<Value>& values) const;
    /// The same, but ends as soon as one of `rules` is 0 or has no value. Returns whether all hold. Add the rules
    /// before all other expressions, in this order.
    bool evaluate(const Problem& problem, std::span<const Slot> rules, std::vector<Value>& values) const;

private:
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

    std::vector<std::string> extents_;
    std::vector<Node> nodes_;     // in an order in which each needs only values before its own
    std::vector<Value> initial_;  // of each slot: its value if it is a constant
    std::vector<bool> is_constant_;
    std::vector<bool> is_truth_;  // 0 or 1 where it has a value
    std::map<std::tuple<Op, Slot, Slot, Slot>, Slot> known_;
    std::map<std::pair<std::int64_t, bool>, Slot> constants_;
};

}  // namespace smemtune
