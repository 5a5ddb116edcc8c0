#include "templates/predict/bound_launch.h"

#include <algorithm>
#include <cmath>

#include "templates/launch/hardware_rates.h"
#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"

namespace smemtune {

namespace {

constexpr double memory_unit = 4e6;  // bytes; about a microsecond of a fast memory

}  // namespace

BoundExpression::BoundExpression(const Expression& expression, const Environment& environment,
                                 const std::vector<std::string>& extents)
    : expression_(expression) {
    for (const auto& name : expression.names()) {
        const auto extent = std::ranges::find(extents, name);
        const auto value = environment.find(name);
        if (extent != extents.end()) {
            places_.push_back({values_.size(), static_cast<std::size_t>(extent - extents.begin())});
        } else if (value == environment.end()) {
            throw ExpressionError("'" + name + "' is unknown");
        }
        values_.push_back(value == environment.end() ? 0 : value->second);
    }
    constant_.reset();
    if (!places_.empty()) return;
    try {
        constant_ = expression_.evaluate(values_);
    } catch (const ExpressionError&) {  // it has no value for any problem: evaluate() says so
    }
}

std::int64_t BoundExpression::evaluate(const Problem& problem) const {
    if (constant_) return *constant_;
    auto values = values_;
    for (const auto& place : places_) values[place.slot] = problem.extents[place.extent].second;
    return expression_.evaluate(values);
}

BoundLaunch::BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration,
                         const Device& device, const Problem& like, CompiledSize compiled)
    : device_(device),
      extents_(kernel_template.operation.extents),
      compiled_(compiled),
      element_bytes_(static_cast<double>(element_type(like.type).bytes)),
      has_model_(kernel_template.model.has_value()) {
    Problem any{like.operation, like.type, like.layout, {}};
    for (const auto& name : extents_) any.extents.emplace_back(name, 1);
    auto environment = environment_of(kernel_template.operation, any, device);
    for (const auto& [name, value] : configuration.values) environment[name] = value;
    const auto bind = [&](const Expression& expression) { return BoundExpression(expression, environment, extents_); };
    for (const auto& constraint : kernel_template.constraints) rules_.push_back(bind(constraint.rule));
    for (const auto& derived : kernel_template.derived) {
        if (derived.constant) constants_.push_back(bind(derived.expression));
    }
    for (std::size_t i = 0; i < grid_.size(); ++i) {
        grid_[i] = bind(kernel_template.grid[i]);
        block_[i] = bind(kernel_template.block[i]);
    }
    static_shared_bytes_ = bind(kernel_template.static_shared_bytes);
    dynamic_shared_bytes_ = bind(kernel_template.dynamic_shared_bytes);
    if (kernel_template.workspace_bytes) workspace_bytes_ = bind(*kernel_template.workspace_bytes);
    if (kernel_template.registers) registers_ = bind(*kernel_template.registers);
    bytes_ = bind(kernel_template.operation.bytes);
    if (const auto& model = kernel_template.model) {
        phases_ = bind(model->phases);
        loads_per_phase_ = bind(model->loads_per_phase);
        operations_per_phase_ = bind(model->operations_per_phase);
        barriers_per_phase_ = bind(model->barriers_per_phase);
    }
}

bool BoundLaunch::is_valid(const Problem& problem) const {
    for (const auto& constant : constants_) (void)constant.evaluate(problem);
    return std::ranges::all_of(rules_, [&](const auto& rule) { return rule.evaluate(problem) != 0; });
}

Launch BoundLaunch::launch(const Problem& problem) const {
    Launch launch;
    for (std::size_t i = 0; i < grid_.size(); ++i) {
        launch.grid[i] = grid_[i].evaluate(problem);
        launch.block[i] = block_[i].evaluate(problem);
    }
    launch.static_shared_bytes = static_shared_bytes_.evaluate(problem);
    launch.dynamic_shared_bytes = dynamic_shared_bytes_.evaluate(problem);
    if (registers_) launch.registers = registers_->evaluate(problem);
    if (workspace_bytes_) launch.workspace = {workspace_bytes_->evaluate(problem), 0};
    return launch;
}

Terms BoundLaunch::terms_of(const Launch& launch, const Problem& problem) const {
    const auto as_double = [](std::int64_t value) { return static_cast<double>(value); };
    // The host device has no limits per multiprocessor, so one block is resident at a time.
    const auto resident =
        as_double(device_.is_host() ? 1 : std::max<std::int64_t>(1, occupancy(launch, device_).blocks()));
    const auto multiprocessors = as_double(std::max<std::int64_t>(1, device_.multiprocessors));
    const auto blocks = as_double(launch.blocks());
    const auto whole_waves = std::floor(blocks / (multiprocessors * resident));
    const auto rest = blocks - whole_waves * multiprocessors * resident;
    const auto waves = whole_waves + (rest > 0 ? 1 : 0);
    const auto busiest = whole_waves * resident + std::ceil(rest / multiprocessors);
    const auto cycles_per_us = device_.clock_khz > 0 ? as_double(device_.clock_khz) * 1e-3 : 1e3;

    Terms terms{1, waves, busiest};
    const auto set = [&](Term term, double value) { terms[static_cast<std::size_t>(term)] = value; };
    set(Term::memory, as_double(bytes_.evaluate(problem)) / memory_unit);
    if (launch.workspace) set(Term::workspace, as_double(launch.workspace->bytes) / memory_unit);
    if (!has_model_) return terms;
    const auto phases = as_double(phases_.evaluate(problem));
    const auto latency =
        rates::memory_latency + rates::barrier_latency * as_double(barriers_per_phase_.evaluate(problem));
    set(Term::latency, waves * phases * latency / cycles_per_us);
    set(Term::arithmetic, busiest * phases * as_double(operations_per_phase_.evaluate(problem)) /
                              rates::operations_per_cycle / cycles_per_us);
    set(Term::loads, busiest * phases * as_double(loads_per_phase_.evaluate(problem)) * element_bytes_ /
                         rates::global_bytes_per_cycle / cycles_per_us);
    return terms;
}

std::optional<Terms> BoundLaunch::terms(const Problem& problem) const {
    if (!std::ranges::equal(problem.extents, extents_, {}, &std::pair<std::string, std::int64_t>::first)) {
        return std::nullopt;
    }
    try {
        if (!is_valid(problem)) return std::nullopt;
        auto launched = launch(problem);
        if (broken_limit(launched, device_)) return std::nullopt;
        if (compiled_.registers > 0) {
            launched.registers = compiled_.registers;
            launched.static_shared_bytes = compiled_.static_shared_bytes;
        }
        return terms_of(launched, problem);
    } catch (const ExpressionError&) {
        return std::nullopt;
    }
}

}  // namespace smemtune
