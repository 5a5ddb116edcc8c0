#include "templates/predict/bound_launch.h"

#include <algorithm>
#include <cmath>

#include "templates/launch/hardware_rates.h"
#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"

namespace smemtune {

namespace {

constexpr double memory_unit = 4e6;  // a unit of 4 MB, which a fast memory moves in about a microsecond

// Returns how many blocks run at the same time if a multiprocessor has room for `resident` blocks and a cluster has
// `blocks` blocks. A cluster runs within one group of multiprocessors (GPC). If a group's remaining multiprocessors are
// too few for another cluster, they stay idle. Clusters of two leave no multiprocessor idle, because a group consists
// of pairs of multiprocessors.
std::int64_t blocks_at_once(std::int64_t multiprocessors, std::int64_t resident, std::int64_t blocks) {
    if (blocks <= 2) return multiprocessors * resident;
    const auto two_groups = resident == 1 ? rates::multiprocessors_per_two_groups_with_one_block
                                          : rates::multiprocessors_per_two_groups_with_more_blocks;
    const auto whole_groups = 2 * multiprocessors / two_groups * (two_groups / 2 / blocks * blocks);
    const auto rest = 2 * multiprocessors % two_groups / 2;
    return std::max(blocks, whole_groups + rest / blocks * blocks) * resident;
}

}  // namespace

// Returns the parts of a launch that do not depend on the grid. number(slot) is the value of a slot.
template <class Number>
Launch BoundLaunch::block_of(const Number& number) const {
    Launch launch;
    for (std::size_t i = 0; i < block_.size(); ++i) launch.block[i] = number(block_[i]);
    launch.static_shared_bytes = number(static_shared_bytes_);
    launch.dynamic_shared_bytes = number(dynamic_shared_bytes_);
    if (registers_) launch.registers = number(*registers_);
    return launch;
}

BoundLaunch::BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration,
                         const Device& device, const Problem& like, CompiledSize compiled,
                         std::shared_ptr<StraightLine> line)
    : device_(device),
      extents_(kernel_template.operation.extents),
      compiled_(compiled),
      element_bytes_(static_cast<double>(element_type(like.type).bytes)),
      has_model_(kernel_template.model.has_value()),
      line_(line ? std::move(line) : std::make_shared<StraightLine>(extents_)) {
    Problem any{like.operation, like.type, like.layout, {}};
    for (const auto& name : extents_) any.extents.emplace_back(name, 1);
    auto environment = environment_of(kernel_template.operation, any, device);
    for (const auto& [name, value] : configuration.values) environment[name] = value;
    for (const auto& parameter : kernel_template.parameters) {
        if (!parameter.runtime) continue;
        const auto value = configuration.values.find(parameter.name);
        if (value == configuration.values.end()) {
            throw ExpressionError("run-time parameter '" + parameter.name + "' has no value");
        }
        runtime_arguments_.push_back(static_cast<int>(value->second));
    }
    const auto& arguments = kernel_template.operation.arguments;
    has_symbols_ = std::ranges::any_of(arguments, [](const auto& argument) { return !argument.symbol.empty(); });
    bind_tensor_maps(kernel_template, environment, like.type);
    workspace_place_ = arguments.size() + runtime_arguments_.size() + tensor_maps_.size();
    for (const auto& constraint : kernel_template.constraints) {
        const auto rule = line_->add(constraint.rule, environment);
        const auto constant = line_->constant_at(rule);
        if (!constant || !constant->exists || constant->number == 0) rules_.push_back(rule);
    }
    const auto bind = [&](const Expression& expression) {
        const auto slot = line_->add(expression, environment);
        const auto constant = line_->constant_at(slot);
        if (!constant || !constant->exists) needed_.push_back(slot);
        return slot;
    };
    for (const auto& derived : kernel_template.derived) {
        if (derived.constant) bind(derived.expression);
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
        dependent_loads_per_phase_ = bind(model->dependent_loads_per_phase);
        dependent_loads_per_block_ = bind(model->dependent_loads_per_block);
        stores_per_block_ = bind(model->stores_per_block);
        cluster_blocks_ = bind(model->cluster_blocks);
        l2_loads_ = bind(model->l2_loads);
    }
    const auto cluster = has_model_ ? line_->constant_at(cluster_blocks_) : StraightLine::Value{1, true};
    if (cluster && cluster->exists) constant_cluster_ = cluster->number;
    std::vector<Slot> of_block{block_[0], block_[1], block_[2], static_shared_bytes_, dynamic_shared_bytes_};
    if (registers_) of_block.push_back(*registers_);
    is_block_constant_ = std::ranges::all_of(of_block, [&](auto slot) {
        const auto constant = line_->constant_at(slot);
        return constant && constant->exists;
    });
    if (!is_block_constant_) return;
    try {
        constant_resident_ = resident_blocks(block_of([&](Slot slot) { return line_->constant_at(slot)->number; }));
    } catch (const ExpressionError&) {  // a product overflows 64 bits, so no launch is possible
    }
    if (constant_resident_ && constant_cluster_) {
        constant_at_once_ = blocks_at_once(multiprocessors(), *constant_resident_, *constant_cluster_);
    }
}

std::array<std::int64_t, 3> BoundLaunch::grid_at(const Scratch& values) const {
    return {values[grid_[0]].number, values[grid_[1]].number, values[grid_[2]].number};
}

// Returns the launch without its run-time arguments and tensor maps.
Launch BoundLaunch::limits(const Scratch& values) const {
    auto launch = block_of([&](Slot slot) { return values[slot].number; });
    launch.grid = grid_at(values);
    if (workspace_bytes_) launch.workspace = {values[*workspace_bytes_].number, workspace_place_};
    return launch;
}

void BoundLaunch::bind_tensor_maps(const KernelTemplate& kernel_template, const Environment& environment,
                                   const std::string& type) {
    if (kernel_template.tensor_maps.empty()) return;
    map_line_ = std::make_shared<StraightLine>(extents_);
    const auto bind = [&](const Expression& expression) {
        return of_maps_.emplace_back(map_line_->add(expression, environment));
    };
    const auto& arguments = kernel_template.operation.arguments;
    for (const auto& map : kernel_template.tensor_maps) {
        const auto& matrix = arguments[map.matrix];
        const auto stride = std::ranges::find(arguments, matrix.stride, &Argument::name) - arguments.begin();
        bind(matrix.count);
        auto& bound =
            tensor_maps_.emplace_back(BoundTensorMap{.of_any_problem = {.matrix = map.matrix,
                                                                        .stride = static_cast<std::size_t>(stride),
                                                                        .element_bytes = type_of(matrix, type).bytes(),
                                                                        .swizzle = map.swizzle},
                                                     .rows = bind(matrix.rows),
                                                     .columns = bind(matrix.columns),
                                                     .box_rows = bind(map.box_rows),
                                                     .box_columns = bind(map.box_columns)});
        if (map.copy_at) bound.copy_at = bind(*map.copy_at);
        if (map.copy_shape) bound.copy_shape = {bind((*map.copy_shape)[0]), bind((*map.copy_shape)[1])};
    }
}

// Must give the same maps as launch_of().
std::optional<std::vector<TensorMapArgument>> BoundLaunch::tensor_maps(const Problem& problem) const {
    std::vector<TensorMapArgument> maps;
    if (tensor_maps_.empty()) return maps;
    StraightLine::Values values;
    map_line_->evaluate(problem, values);
    if (!std::ranges::all_of(of_maps_, [&](auto slot) { return values[slot].exists; })) return std::nullopt;
    for (const auto& bound : tensor_maps_) {
        auto& map = maps.emplace_back(bound.of_any_problem);
        map.rows = values[bound.rows].number;
        map.columns = values[bound.columns].number;
        map.box_rows = values[bound.box_rows].number;
        map.box_columns = values[bound.box_columns].number;
        if (!bound.copy_at || values[*bound.copy_at].number < 0) continue;
        map.copy_at = values[*bound.copy_at].number;
        if (!bound.copy_shape || values[(*bound.copy_shape)[0]].number == 0) continue;
        map.rows = values[(*bound.copy_shape)[0]].number;
        map.columns = values[(*bound.copy_shape)[1]].number;
        map.is_copy = true;
    }
    return maps;
}

std::optional<Launch> BoundLaunch::launch_at(const Problem& problem, const Scratch& values) const {
    if (has_symbols_) return std::nullopt;
    auto maps = tensor_maps(problem);
    if (!maps) return std::nullopt;
    auto launch = limits(values);
    launch.runtime_arguments = runtime_arguments_;
    launch.tensor_maps = std::move(*maps);
    return launch;
}

std::int64_t BoundLaunch::multiprocessors() const { return std::max<std::int64_t>(1, device_.multiprocessors); }

// Returns how many blocks run on a multiprocessor at once; nothing if a block exceeds a limit of the device.
std::optional<std::int64_t> BoundLaunch::resident_blocks(Launch launch) const {
    if (broken_block_limit(launch, device_)) return std::nullopt;
    // The host device has no limits per multiprocessor, so the model assumes one resident block.
    if (device_.is_host()) return 1;
    if (compiled_.registers > 0) {
        launch.registers = compiled_.registers;
        launch.static_shared_bytes = compiled_.static_shared_bytes;
    }
    return std::max<std::int64_t>(1, occupancy(launch, device_).blocks());
}

Terms BoundLaunch::terms_of(double blocks, std::int64_t resident, const Scratch& values) const {
    const auto as_double = [](std::int64_t value) { return static_cast<double>(value); };
    const auto cluster = constant_cluster_ ? *constant_cluster_ : values[cluster_blocks_].number;
    const auto at_once =
        as_double(constant_at_once_ ? *constant_at_once_ : blocks_at_once(multiprocessors(), resident, cluster));
    const auto whole_waves = std::floor(blocks / at_once);
    const auto rest = blocks - whole_waves * at_once;
    const auto waves = whole_waves + (rest > 0 ? 1 : 0);
    const auto busiest = whole_waves * as_double(resident) + std::ceil(rest * as_double(resident) / at_once);
    const auto cycles_per_us = device_.clock_khz > 0 ? as_double(device_.clock_khz) * 1e-3 : 1e3;

    Terms terms{1, waves, busiest};
    const auto set = [&](Term term, double value) { terms[static_cast<std::size_t>(term)] = value; };
    set(Term::memory, as_double(values[bytes_].number) / memory_unit);
    if (workspace_bytes_) set(Term::workspace, as_double(values[*workspace_bytes_].number) / memory_unit);
    if (!has_model_) return terms;
    const auto phases = as_double(values[phases_].number);
    const auto latency = rates::memory_latency + rates::barrier_latency * as_double(values[barriers_per_phase_].number);
    set(Term::latency, waves * phases * latency / cycles_per_us);
    set(Term::arithmetic, busiest * phases * as_double(values[operations_per_phase_].number) /
                              rates::operations_per_cycle / cycles_per_us);
    const auto elements =
        phases * as_double(values[loads_per_phase_].number) + as_double(values[stores_per_block_].number);
    set(Term::loads, busiest * elements * element_bytes_ / rates::global_bytes_per_cycle / cycles_per_us);
    const auto dependent = phases * as_double(values[dependent_loads_per_phase_].number) +
                           as_double(values[dependent_loads_per_block_].number);
    set(Term::dependent_loads, waves * dependent * rates::memory_latency / cycles_per_us);
    const auto bytes_per_cycle = rates::global_bytes_per_cycle * std::max(1.0, as_double(device_.multiprocessors));
    set(Term::l2, as_double(values[l2_loads_].number) * element_bytes_ / bytes_per_cycle / cycles_per_us);
    return terms;
}

std::optional<Terms> BoundLaunch::terms(const Problem& problem) const {
    Scratch scratch;
    return terms(problem, scratch);
}

std::optional<Terms> BoundLaunch::terms(const Problem& problem, Scratch& scratch) const {
    if (!std::ranges::equal(problem.extents, extents_, {}, &std::pair<std::string, std::int64_t>::first)) {
        return std::nullopt;
    }
    if (!line_->evaluate(problem, rules_, scratch)) return std::nullopt;
    return terms_at(scratch);
}

bool BoundLaunch::follows_rules(const Scratch& values) const {
    return std::ranges::all_of(rules_, [&](Slot rule) { return values[rule].exists && values[rule].number != 0; });
}

std::optional<Terms> BoundLaunch::terms_at(const Scratch& values) const {
    if (!std::ranges::all_of(needed_, [&](auto slot) { return values[slot].exists; })) return std::nullopt;
    const auto grid = grid_at(values);
    const auto workspace = workspace_bytes_ ? std::optional(values[*workspace_bytes_].number) : std::nullopt;
    if (!is_within_grid_limits(grid, workspace, device_)) return std::nullopt;
    try {
        const auto resident = is_block_constant_ ? constant_resident_ : resident_blocks(limits(values));
        if (!resident) return std::nullopt;
        const auto blocks = static_cast<double>(grid[0]) * static_cast<double>(grid[1]) * static_cast<double>(grid[2]);
        return terms_of(blocks, *resident, values);
    } catch (const ExpressionError&) {  // a product of the launch overflows 64 bits
        return std::nullopt;
    }
}

}  // namespace smemtune
