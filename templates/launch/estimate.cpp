#include "templates/launch/estimate.h"

#include <algorithm>

#include "templates/launch/hardware_rates.h"
#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"

namespace smemtune {

ModelValues model_values(const KernelTemplate& kernel_template, const Configuration& configuration,
                         const Problem& problem, const Device& device) {
    if (!kernel_template.model) return {};
    auto environment = environment_of(kernel_template.operation, problem, device);
    for (const auto& [name, value] : configuration.values) environment[name] = value;
    const auto& model = *kernel_template.model;
    return {.phases = model.phases.evaluate(environment),
            .loads_per_phase = model.loads_per_phase.evaluate(environment),
            .operations_per_phase = model.operations_per_phase.evaluate(environment),
            .barriers_per_phase = model.barriers_per_phase.evaluate(environment),
            .shared_loads_per_phase = model.shared_loads_per_phase.evaluate(environment)};
}

std::optional<double> estimated_us(const KernelTemplate& kernel_template, const Configuration& configuration,
                                   const Problem& problem, const Device& device) {
    using namespace rates;
    if (!kernel_template.model) return std::nullopt;
    const auto launch = launch_of(kernel_template, configuration, problem, device);
    if (broken_limit(launch, device)) return std::nullopt;
    const auto reuse = model_values(kernel_template, configuration, problem, device);
    const auto as_double = [](std::int64_t value) { return static_cast<double>(value); };

    // The host device has no limits per multiprocessor, so the estimate assumes one resident block.
    const auto resident = device.is_host() ? 1 : std::max<std::int64_t>(1, occupancy(launch, device).blocks());
    const auto multiprocessors = std::max<std::int64_t>(1, device.multiprocessors);
    const auto blocks_each = (launch.blocks() + multiprocessors - 1) / multiprocessors;
    const auto waves = (blocks_each + resident - 1) / resident;
    const auto together = as_double(std::min(resident, blocks_each));

    const auto phases = as_double(reuse.phases);
    const auto arithmetic = together * phases * as_double(reuse.operations_per_phase) / operations_per_cycle;
    const auto bytes = as_double(reuse.loads_per_phase) * as_double(element_type(problem.type).bytes);
    const auto global = together * phases * bytes / global_bytes_per_cycle;
    const auto shared = together * phases * as_double(reuse.shared_loads_per_phase) / shared_words_per_cycle;
    const auto latency = phases * (memory_latency + barrier_latency * as_double(reuse.barriers_per_phase));
    const auto cycles = as_double(waves) * std::max({arithmetic, global, shared, latency});
    return device.clock_khz > 0 ? cycles / (as_double(device.clock_khz) * 1e-3) : cycles * 1e-3;
}

}  // namespace smemtune
