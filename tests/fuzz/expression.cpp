#include <optional>
#include <vector>

#include "templates/space/straight_line.h"

using namespace smemtune;

// Fuzzes expressions. Expression, StraightLine and LoopNest evaluate each expression, and their results must agree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const Expression expression(std::string(reinterpret_cast<const char*>(data), size));
        Environment environment;
        Problem problem;
        for (const auto& name : expression.names()) {
            environment[name] = static_cast<std::int64_t>(name.size()) * 7 - 8;
            problem.extents.emplace_back(name, environment[name]);
        }
        std::optional<std::int64_t> value;
        try {
            value = expression.evaluate(environment);
        } catch (const ExpressionError&) {
        }
        StraightLine line(expression.names());
        const auto slot = line.add(expression, {});
        StraightLine::Values values;
        line.evaluate(problem, values);
        if (values[slot].exists != value.has_value() || (value && values[slot].number != *value)) __builtin_trap();

        const auto depth_count = expression.names().size();
        std::vector<std::vector<LoopNest::Slot>> rules(depth_count + 1);
        rules.back() = {slot};
        LoopNest loops(line, rules);
        auto failed = loops.enter(0, 0);
        for (std::size_t depth = 1; depth <= depth_count; ++depth) {
            failed = loops.enter(depth, environment[expression.names()[depth - 1]]);
        }
        if ((failed == LoopNest::none) != (value.value_or(0) != 0)) __builtin_trap();
        if (failed != LoopNest::none && loops.exists(slot) != value.has_value()) __builtin_trap();
    } catch (const ExpressionError&) {
    }
    return 0;
}
