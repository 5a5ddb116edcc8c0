#include "templates/launch/launch.h"

#include <algorithm>
#include <limits>

namespace smemtune {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t product(const std::array<std::int64_t, 3>& extents) {
    std::int64_t result = 1;
    for (const auto extent : extents) {
        if (__builtin_mul_overflow(result, extent, &result)) return unlimited;
    }
    return result;
}

}  // namespace

std::int64_t Launch::threads() const { return product(block); }
std::int64_t Launch::blocks() const { return product(grid); }
std::int64_t Launch::shared_bytes() const {
    std::int64_t sum = 0;
    return __builtin_add_overflow(static_shared_bytes, dynamic_shared_bytes, &sum) ? unlimited : sum;
}

Launch launch_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
                 const Device& device) {
    auto environment = environment_of(kernel_template.operation, problem, device);
    for (const auto& [name, value] : configuration.values) environment[name] = value;
    // Evaluates all constants, so that a constant without a value, such as a division by zero, fails before the
    // compile.
    for (const auto& derived : kernel_template.derived) {
        if (derived.constant) (void)derived.expression.evaluate(environment);
    }
    Launch launch;
    for (std::size_t i = 0; i < 3; ++i) {
        launch.grid[i] = kernel_template.grid[i].evaluate(environment);
        launch.block[i] = kernel_template.block[i].evaluate(environment);
    }
    launch.static_shared_bytes = kernel_template.static_shared_bytes.evaluate(environment);
    launch.dynamic_shared_bytes = kernel_template.dynamic_shared_bytes.evaluate(environment);
    if (kernel_template.registers) launch.registers = kernel_template.registers->evaluate(environment);
    for (const auto& parameter : kernel_template.parameters) {
        if (!parameter.runtime) continue;
        const auto value = configuration.values.find(parameter.name);
        if (value == configuration.values.end()) {
            throw ExpressionError("run-time parameter '" + parameter.name + "' has no value");
        }
        launch.runtime_arguments.push_back(static_cast<int>(value->second));
    }
    const auto& arguments = kernel_template.operation.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].symbol.empty()) continue;
        const auto shape = shape_of(arguments[i], environment);
        launch.symbols.push_back(
            {arguments[i].symbol, i,
             shape.rows * shape.columns * shape.count * type_of(arguments[i], problem.type).bytes()});
    }
    for (const auto& map : kernel_template.tensor_maps) {
        const auto& matrix = arguments[map.matrix];
        const auto stride = std::ranges::find(arguments, matrix.stride, &Argument::name) - arguments.begin();
        const auto shape = shape_of(matrix, environment);
        launch.tensor_maps.push_back({map.matrix, static_cast<std::size_t>(stride), shape.rows, shape.columns,
                                      map.box_rows.evaluate(environment), map.box_columns.evaluate(environment),
                                      type_of(matrix, problem.type).bytes(), map.swizzle});
        if (!map.copy_at) continue;
        auto& argument = launch.tensor_maps.back();
        if (const auto at = map.copy_at->evaluate(environment); at >= 0) argument.copy_at = at;
        if (!argument.copy_at || !map.copy_shape) continue;
        const auto rows = (*map.copy_shape)[0].evaluate(environment);
        if (rows == 0) continue;
        argument.rows = rows;
        argument.columns = (*map.copy_shape)[1].evaluate(environment);
        argument.is_copy = true;
    }
    if (kernel_template.workspace_bytes) {
        launch.workspace = {
            kernel_template.workspace_bytes->evaluate(environment),
            arguments.size() - launch.symbols.size() + launch.runtime_arguments.size() + launch.tensor_maps.size()};
    }
    return launch;
}

}  // namespace smemtune
