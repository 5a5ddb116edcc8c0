#include "runtime/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "templates/catalog.h"
#include "templates/limits.h"

namespace smemtune {

namespace {

// The default where it is valid; else the valid configuration that differs from it in the fewest parameters.
std::optional<Configuration> sane_default(const KernelTemplate& kernel, const Problem& problem, const Device& device) {
    const auto preset = default_configuration(kernel);
    if (!objection(kernel, preset, problem, device)) return preset;
    const auto space = feasible_space(kernel, problem, device);
    std::optional<Configuration> best;
    auto least = std::numeric_limits<std::ptrdiff_t>::max();
    for (std::size_t i = 0; i < space.size(); ++i) {
        auto configuration = space[i];
        const auto differing = std::ranges::count_if(
            configuration.values, [&](const auto& value) { return preset.values.at(value.first) != value.second; });
        if (differing >= least) continue;
        least = differing;
        best = std::move(configuration);
    }
    return best;
}

std::vector<Candidate> tuned(const Problem& problem, const Device& device, const Store& store,
                             std::string_view kernel_template) {
    const auto device_row = store.find(device);
    if (!device_row) return {};
    auto rows =
        store.best_of(*device_row, problem.operation, problem.type, problem.layout, std::string(kernel_template));
    std::ranges::stable_sort(rows, {}, [&](const TrialRow& row) { return distance(problem, row.problem); });
    std::vector<Candidate> result;
    for (const auto& row : rows) {
        const auto files = store.recall_template(row.record.key.kernel_template);
        if (!files) continue;
        auto kernel = load_template(files->files);
        const auto& configuration = row.record.configuration;
        if (!supports(kernel, problem, device) || objection(kernel, configuration, problem, device)) continue;
        const bool exact = row.problem == problem;
        Choice choice{.kernel_template = kernel.name,
                      .configuration = to_text(configuration),
                      .match = exact ? Match::exact : Match::nearest,
                      .tuned_for = to_text(row.problem),
                      .expected_us = std::get<Measurement>(row.record.outcome).median_us,
                      .device = device.name};
        result.push_back({std::move(kernel), configuration, std::move(choice), row.record.key.kernel_template});
    }
    return result;
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const Device& device, const Store* store,
                                  const std::vector<KernelTemplate>& templates, std::string_view kernel_template) {
    std::vector<Candidate> result;
    if (store != nullptr) result = tuned(problem, device, *store, kernel_template);
    // Untuned, what promises most comes first: the operations that its tiling gets out of one load.
    std::vector<std::pair<double, Candidate>> untuned;
    for (const auto& kernel : templates) {
        if (!supports(kernel, problem, device) || (!kernel_template.empty() && kernel.name != kernel_template))
            continue;
        const auto configuration = sane_default(kernel, problem, device);
        if (!configuration) continue;
        Choice choice{.kernel_template = kernel.name,
                      .configuration = to_text(*configuration),
                      .match = Match::untuned,
                      .device = device.name};
        untuned.emplace_back(reuse_of(kernel, *configuration, problem, device).operations_per_load(),
                             Candidate{kernel, *configuration, std::move(choice), std::nullopt});
    }
    std::ranges::stable_sort(untuned, std::ranges::greater{}, [](const auto& each) { return each.first; });
    for (auto& [reuse, candidate] : untuned) result.push_back(std::move(candidate));
    return result;
}

double distance(const Problem& a, const Problem& b) {
    if (a.operation != b.operation || a.type != b.type || a.layout != b.layout ||
        a.extents.size() != b.extents.size()) {
        return std::numeric_limits<double>::infinity();
    }
    double sum = 0;
    for (std::size_t i = 0; i < a.extents.size(); ++i) {
        const auto difference =
            std::log(static_cast<double>(a.extents[i].second)) - std::log(static_cast<double>(b.extents[i].second));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

std::string binary_key(const std::string& target, const Problem& problem) {
    return target + " " + problem.type + (problem.layout.empty() ? "" : " " + problem.layout);
}

}  // namespace smemtune
