#include "templates/launch/limits.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <tuple>

#include "templates/launch/occupancy.h"

namespace smemtune {

namespace {

// Returns the device's limits as constraints over the manifest's expressions. With these constraints, a ParameterSpace
// has no configurations that exceed a limit. broken_limit() checks the same limits for a single launch.
std::vector<Constraint> limit_constraints(const KernelTemplate& kernel_template) {
    const auto in = [](const Expression& expression) { return "(" + expression.text() + ")"; };
    const auto& block = kernel_template.block;
    const auto threads = in(block[0]) + " * " + in(block[1]) + " * " + in(block[2]);
    const auto shared = in(kernel_template.static_shared_bytes) + " + " + in(kernel_template.dynamic_shared_bytes);
    std::vector<Constraint> constraints;
    const auto add = [&](const std::string& rule, std::string reason, std::string written = "") {
        constraints.push_back({Expression(rule), std::move(reason), std::move(written)});
    };
    for (const auto& extents : {kernel_template.block, kernel_template.grid}) {
        add("min(min(" + extents[0].text() + ", " + extents[1].text() + "), " + extents[2].text() + ") >= 1",
            "the grid or the block is empty");
    }
    add(threads + " <= device.threads_per_block", "threads per block", "block <= device.threads_per_block");
    add(in(block[2]) + " <= 64", "threads along z");
    add(in(kernel_template.static_shared_bytes) + " <= device.static_shared_bytes_per_block",
        "static shared memory per block", "static_shared_bytes <= device.static_shared_bytes_per_block");
    add(shared + " <= device.shared_bytes_per_block", "shared memory per block",
        "static_shared_bytes + dynamic_shared_bytes <= device.shared_bytes_per_block");
    add("min(" + in(kernel_template.static_shared_bytes) + ", " + in(kernel_template.dynamic_shared_bytes) + ") >= 0",
        "shared memory is negative");
    if (kernel_template.workspace_bytes) {
        const auto bytes = in(*kernel_template.workspace_bytes);
        add(bytes + " >= 0", "the workspace is negative");
        add("device.memory_bytes == 0 || " + bytes + " <= device.memory_bytes", "bytes of workspace",
            "workspace_bytes <= device.memory_bytes");
    }
    if (kernel_template.registers) {
        const auto registers = in(*kernel_template.registers);
        add(registers + " <= device.registers_per_thread", "registers per thread, by the manifest's estimate",
            "registers <= device.registers_per_thread");
        add("round_up(" + registers + " * device.warp_size, " + std::to_string(register_unit) +
                ") * round_up(ceil_div(" + threads + ", device.warp_size), " + std::to_string(warps_together) +
                ") <= device.registers_per_block",
            "registers per block, by the manifest's estimate",
            "registers, allocated to warps by 256 and to four warps at a time, <= device.registers_per_block");
    }
    add(in(kernel_template.grid[0]) + " <= device.grid_x", "blocks of the grid along x");
    add(in(kernel_template.grid[1]) + " <= device.grid_y", "blocks of the grid along y");
    add(in(kernel_template.grid[2]) + " <= device.grid_z", "blocks of the grid along z");
    return constraints;
}

constexpr const char* empty = "the grid or the block is empty";

std::string over(std::string_view what, std::int64_t asked, std::int64_t limit) {
    return std::string(what) + ": asks for " + std::to_string(asked) + ", the device allows " + std::to_string(limit);
}

using Bound =
    std::tuple<std::string_view, std::int64_t, std::int64_t>;  // what is limited, what is asked for, the limit

std::optional<std::string> first_over(std::initializer_list<Bound> checks) {
    for (const auto& [what, asked, limit] : checks) {
        if (asked > limit) return over(what, asked, limit);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_block_limit(const Launch& launch, const Device& device) {
    if (std::ranges::min(launch.block) < 1) return empty;
    if (std::min(launch.static_shared_bytes, launch.dynamic_shared_bytes) < 0) return "shared memory is negative";
    // The registers per thread are checked first, because the products below could overflow otherwise.
    if (launch.registers > device.registers_per_thread) {
        return over("registers per thread", launch.registers, device.registers_per_thread);
    }
    return first_over(
        {Bound{"threads per block", launch.threads(), device.threads_per_block},
         Bound{"static shared bytes per block", launch.static_shared_bytes, device.static_shared_bytes_per_block},
         Bound{"shared bytes per block", launch.shared_bytes(), device.shared_bytes_per_block},
         Bound{"registers per block", registers_per_block(launch, device), device.registers_per_block},
         Bound{"threads along z", launch.block[2], 64}});
}

std::optional<std::string> broken_grid_limit(const Launch& launch, const Device& device) {
    if (std::ranges::min(launch.grid) < 1) return empty;
    if (launch.workspace && launch.workspace->bytes < 0) return "the workspace is negative";
    if (launch.workspace && device.memory_bytes > 0 && launch.workspace->bytes > device.memory_bytes) {
        return over("bytes of workspace", launch.workspace->bytes, device.memory_bytes);
    }
    return first_over({Bound{"blocks along x", launch.grid[0], device.grid_x},
                       Bound{"blocks along y", launch.grid[1], device.grid_y},
                       Bound{"blocks along z", launch.grid[2], device.grid_z}});
}

bool is_within_grid_limits(const std::array<std::int64_t, 3>& grid, std::optional<std::int64_t> workspace_bytes,
                           const Device& device) {
    if (workspace_bytes && *workspace_bytes < 0) return false;
    if (workspace_bytes && device.memory_bytes > 0 && *workspace_bytes > device.memory_bytes) return false;
    return std::ranges::min(grid) >= 1 && grid[0] <= device.grid_x && grid[1] <= device.grid_y &&
           grid[2] <= device.grid_z;
}

std::optional<std::string> broken_limit(const Launch& launch, const Device& device) {
    auto broken = broken_block_limit(launch, device);
    return broken ? broken : broken_grid_limit(launch, device);
}

std::optional<std::string> infeasibility(const KernelTemplate& kernel_template, const Configuration& configuration,
                                         const Problem& problem, const Device& device) {
    const auto& parameters = kernel_template.parameters;
    for (const auto& [name, value] : configuration.values) {
        const auto parameter = std::ranges::find(parameters, name, &Parameter::name);
        if (parameter == parameters.end()) return "there is no parameter '" + name + "'";
        if (std::ranges::find(parameter->values, value) == parameter->values.end()) {
            std::string known;
            for (const auto each : parameter->values) known += " " + std::to_string(each);
            return name + "=" + std::to_string(value) + " is not among its values:" + known;
        }
    }
    for (const auto& parameter : parameters) {
        if (!configuration.values.contains(parameter.name)) return "parameter '" + parameter.name + "' has no value";
    }
    auto environment = environment_of(kernel_template.operation, problem, device);
    for (const auto& [name, value] : configuration.values) environment[name] = value;
    for (const auto& constraint : kernel_template.constraints) {
        if (constraint.rule.evaluate(environment) == 0) return constraint.reason + " (" + constraint.text() + ")";
    }
    return broken_limit(launch_of(kernel_template, configuration, problem, device), device);
}

ParameterSpace feasible_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device) {
    auto constraints = kernel_template.constraints;
    std::ranges::move(limit_constraints(kernel_template), std::back_inserter(constraints));
    try {
        return {kernel_template.parameters, std::move(constraints),
                environment_of(kernel_template.operation, problem, device)};
    } catch (const ExpressionError& error) {
        throw ExpressionError(kernel_template.path + ": " + error.what() + " for some values of the parameters; " +
                              "guard it, as in B == 0 || A / B < 4");
    }
}

ParameterSpace declared_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device) {
    return {kernel_template.parameters, kernel_template.constraints,
            environment_of(kernel_template.operation, problem, device)};
}

}  // namespace smemtune
