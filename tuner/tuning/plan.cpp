#include "tuner/tuning/plan.h"

#include <algorithm>
#include <stdexcept>

#include "templates/launch/estimate.h"
#include "templates/launch/limits.h"
#include "tuner/search/search.h"
#include "tuner/trial/operands.h"
#include "util/parallel_for.h"

namespace smemtune {

namespace {

// The largest number of configurations that exceed the device's limits and are stored one by one, per template. If
// there are more, they are only counted.
constexpr std::uint64_t most_over_limits = 1000;

// Returns the space that a search gets. A search that learns gets the feasible configurations in which run-time
// parameters have their defaults. The sweep at the end tries the other values. A search of the whole space also gets
// the infeasible configurations, unless there are more than most_over_limits. Infeasible configurations take no time:
// each one is stored as rejected, with the reason.
ParameterSpace space_to_search(const TuneRequest& request, const KernelTemplate& kernel, const Problem& problem,
                               const Device& device) {
    if (learns(request.search)) {
        auto fixed = kernel;
        for (auto& parameter : fixed.parameters) {
            if (parameter.runtime) parameter.values = {parameter.default_value};
        }
        return feasible_space(fixed, problem, device);
    }
    auto feasible = feasible_space(kernel, problem, device);
    std::uint64_t over_limits = 0;
    for (auto i = kernel.constraints.size(); i < feasible.census().size(); ++i)
        over_limits += feasible.census()[i].points;
    return over_limits > most_over_limits ? std::move(feasible) : declared_space(kernel, problem, device);
}

// Enumerates the spaces in parallel, because a space of millions of points takes a second.
void enumerate(const TuneRequest& request, const Device& device, std::vector<std::vector<PlannedSpace>>& spaces) {
    std::vector<std::pair<const Problem*, PlannedSpace*>> all;
    for (std::size_t i = 0; i < spaces.size(); ++i) {
        for (auto& planned : spaces[i]) all.emplace_back(&request.problems[i], &planned);
    }
    parallel_for(all.size(), request.jobs, [&](std::size_t i) {
        const auto& [problem, planned] = all[i];
        planned->space =
            std::make_shared<ParameterSpace>(space_to_search(request, *planned->kernel_template, *problem, device));
    });
}

}  // namespace

std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device) {
    std::vector<std::vector<PlannedSpace>> spaces;
    for (const auto& problem : request.problems) {
        auto& row = spaces.emplace_back();
        for (const auto& kernel : request.templates) {
            if (supports(kernel, problem, device)) row.push_back({.kernel_template = &kernel});
        }
        if (row.empty()) {
            std::string names;
            for (const auto& kernel : request.templates) {
                names += (names.empty() ? "" : ", ") + kernel.name + " (" +
                         why_unsupported(kernel, problem, device).value_or("") + ")";
            }
            throw std::invalid_argument("no template can compute " + to_text(problem) + " on " + device.name +
                                        "; looked at: " + names + "; see 'smemtune templates'");
        }
        must_fit(row.front().kernel_template->operation, problem, device);
        // The most promising template comes first. The sooner a good candidate is known, the sooner the trials of slow
        // candidates can be cut short.
        std::ranges::stable_sort(row, std::ranges::greater{}, [&](const PlannedSpace& planned) {
            const auto& kernel = *planned.kernel_template;
            return model_values(kernel, default_configuration(kernel), problem, device).operations_per_load();
        });
    }
    enumerate(request, device, spaces);
    return spaces;
}

}  // namespace smemtune
