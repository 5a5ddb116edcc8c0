// Several expressions of the same variables, compiled to one list of operations without branches. A common
// subexpression is computed only once. A subexpression that depends on no variable is computed when it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "templates/space/expression.h"
#include "templates/space/problem.h"

namespace smemtune {

class StraightLine {
    struct Node;

public:
    /// The index of a variable's, constant's or operation's value in the list of all values.
    using Slot = std::uint32_t;
    struct Value {
        std::int64_t number;
        bool exists;  ///< whether there is a value: false after a division by zero or an overflow of 64 bits
    };

    /// The values of all slots for one problem. Later calls of evaluate() with the same object reuse its memory.
    /// line.evaluate() copies the constants of `line` into the object only if the previous call with this object was
    /// for a different StraightLine.
    class Values {
    public:
        const Value& operator[](Slot slot) const { return values_[slot]; }

    private:
        friend class StraightLine;
        std::uint64_t line_ = 0;  // StraightLine::id_ of the line whose constants are in `values_`
        std::vector<Value> values_;
    };

    /// Some of the operations, sorted such that equal operators follow one another, which makes evaluate() faster.
    class Part {
        friend class StraightLine;
        std::vector<Node> nodes_;
        std::vector<std::size_t> batch_ends_;  // where each run of equal operators in `nodes_` ends
    };

    /// The first slots belong to `variables`, in the same order.
    explicit StraightLine(std::vector<std::string> variables);

    /// Adds an expression and returns the slot of its value. `environment` has the values of all names that are not
    /// variables. Throws ExpressionError for an unknown name.
    Slot add(const Expression& expression, const Environment& environment);

    /// Returns the value of a slot if it is the same for every problem.
    [[nodiscard]] std::optional<Value> constant_at(Slot slot) const;

    /// Computes the values of all slots and writes them to `values`. Precondition: the variables are the problem's
    /// extents.
    void evaluate(const Problem& problem, Values& values) const;
    /// Like evaluate(problem, values), but stops and returns false as soon as one of `rules` is 0 or has no value.
    /// Otherwise returns true. Precondition: the rules were added in this order, before all other expressions.
    bool evaluate(const Problem& problem, std::span<const Slot> rules, Values& values) const;

    /// Returns the operations that the values of `slots` need, without those of `known`. Call it after the last add().
    [[nodiscard]] Part part(std::span<const Slot> slots, const Part& known = {}) const;
    /// Computes only the operations of `part`. Precondition: if the part was made with `known`, then `values` has the
    /// values of the operations of `known` for the same problem.
    void evaluate(const Problem& problem, const Part& part, Values& values) const;

private:
    friend class LoopNest;
    using Op = Expression::Op;
    struct Node {
        Op op;  // Op::jump_if_zero means `a ? b : c`
        Slot a, b, c;
        Slot to;  // the slot of the node's value
    };

    [[nodiscard]] static bool is_truth(Op op);
    Slot constant(Value value);
    [[nodiscard]] std::optional<Slot> operand_equal_to(Op op, Slot a, Slot b) const;
    Slot node(Op op, Slot a, Slot b, Slot c = 0);
    Slot convert(const Expression& expression, std::size_t begin, std::size_t end, std::span<const Slot> names);
    [[nodiscard]] static Value value_of(const Node& node, const Value* values);
    Value* begin(const Problem& problem, Values& values) const;

    // Computes the nodes from `first` to `last`, which all have the operator `op`.
    template <Op op>
    static void compute(const Node* first, const Node* last, Value* values);
    static void compute_batch(const Node* first, const Node* last, Value* values);

    std::uint64_t id_;  // unique to this StraightLine; changes when an expression is added
    std::vector<std::string> variables_;
    std::vector<Node> nodes_;     // in such an order that each node needs only values of earlier nodes
    std::vector<Value> initial_;  // the value of each slot that is a constant; unused for the other slots
    std::vector<bool> is_constant_;
    std::vector<bool> is_truth_;  // for each slot: whether its value, if it has one, is 0 or 1
    std::map<std::tuple<Op, Slot, Slot, Slot>, Slot> known_;
    std::map<std::pair<std::int64_t, bool>, Slot> constants_;
};

/// The operations of a StraightLine in nested loops over its variables. The loop over the first variable is the
/// outermost. Each operation is computed in the outermost loop in which all its variables have values.
class LoopNest {
public:
    using Slot = StraightLine::Slot;

    /// `rules[depth]` are checked when the first `depth` variables have values, and must not depend on other variables.
    /// Precondition: the rules were added to the line in the order in which they are checked.
    LoopNest(const StraightLine& line, const std::vector<std::vector<Slot>>& rules);

    static constexpr std::size_t none = SIZE_MAX;

    /// Sets variable `depth` - 1 to `value`, then checks `rules[depth]`. Returns the index of the first of these rules
    /// that is 0 or has no value; `none` if there is no such rule. The first call must be for depth 0, which sets no
    /// variable. A call makes the values of all greater depths stale, until enter() is called for these depths again.
    std::size_t enter(std::size_t depth, std::int64_t value);
    /// Whether the rule that failed in the last enter() has a value. If it has, the value is 0.
    [[nodiscard]] bool exists(Slot rule) const { return values_[rule].exists; }

private:
    struct Check {
        std::vector<StraightLine::Node> nodes;  // nodes of this loop that the rule needs and no earlier rule needed
        Slot rule;
    };
    struct Loop {
        std::vector<Check> checks;
        std::vector<StraightLine::Node> rest;  // nodes of this loop that only rules of inner loops need
    };

    std::vector<Loop> loops_;
    std::vector<StraightLine::Value> values_;
};

}  // namespace smemtune
