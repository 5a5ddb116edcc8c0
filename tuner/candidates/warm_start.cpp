#include "tuner/candidates/warm_start.h"

#include <algorithm>
#include <cmath>

#include "runtime/selection.h"

namespace smemtune {

namespace {

constexpr std::size_t most_near_sizes = 3;  // start points come from this many sizes on this device, nearest first
constexpr std::size_t most_devices = 3;     // start points come from this many other devices, most similar first
constexpr std::size_t most_sizes_of_a_layout = 2;  // start points come from this many sizes of each other layout
const double near_distance =
    std::log(4.0) * std::sqrt(3.0);  // distance of a problem whose three extents are each four times as large

std::vector<TrialRow> nearest_first(const Store& store, std::int64_t device_row, const Problem& problem,
                                    const std::string& kernel_template) {
    auto rows = store.best_of(device_row, problem.operation, problem.type, problem.layout, kernel_template);
    std::ranges::stable_sort(rows, {}, [&](const TrialRow& row) { return distance(problem, row.problem); });
    return rows;
}

// Returns the template's fastest trial at each other size, nearest size first.
std::vector<TrialRow> nearby(const Store& store, std::int64_t device_row, const Problem& problem,
                             const KernelTemplate& kernel_template) {
    auto rows = nearest_first(store, device_row, problem, kernel_template.name);
    std::erase_if(rows, [&](const TrialRow& row) { return row.problem == problem; });
    return rows;
}

void add_winners(std::vector<Configuration>& winners, const std::vector<TrialRow>& rows, std::size_t most) {
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
        const auto& configuration = rows[i].record.configuration;
        if (std::ranges::find(winners, configuration) == winners.end()) winners.push_back(configuration);
    }
}

double median_of(const TrialRow& row) { return std::get<Measurement>(row.record.outcome).median_us; }

// The shortest time of a template's trials of a problem. Nothing if no trial was measured, or if a row is damaged.
std::optional<double> least_us_of(const Store& store, const TrialKey& key) {
    std::optional<double> best;
    try {
        for (const auto& trial : store.trials(key)) {
            const auto* measured = std::get_if<Measurement>(&trial.outcome);
            if (measured != nullptr) best = std::min(best.value_or(measured->median_us), measured->median_us);
        }
    } catch (const DamagedRow&) {  // a new tuning run of this problem replaces the damaged rows
        return std::nullopt;
    }
    return best;
}

// Returns WarmStart::behind, from the nearest tuned problem that has trials of the template.
std::optional<double> how_far_behind(const Store& store, std::int64_t device_row, const Problem& problem,
                                     std::int64_t template_row) {
    for (const auto& winner : nearest_first(store, device_row, problem, {})) {
        if (winner.problem == problem) continue;
        if (distance(problem, winner.problem) > near_distance) break;
        const auto best = least_us_of(store, {device_row, template_row, winner.record.key.problem});
        if (best) return *best / median_of(winner);
    }
    return std::nullopt;
}

}  // namespace

std::vector<Configuration> winners_nearby(const Store& store, std::int64_t device_row, const Problem& problem,
                                          const KernelTemplate& kernel_template, std::size_t most) {
    std::vector<Configuration> winners;
    add_winners(winners, nearby(store, device_row, problem, kernel_template), most);
    return winners;
}

WarmStart warm_start(const Store& store, std::int64_t device_row, const Device& device, const Problem& problem,
                     const KernelTemplate& kernel_template, std::int64_t template_row) {
    WarmStart result{.behind = how_far_behind(store, device_row, problem, template_row)};
    add_winners(result.starts, nearby(store, device_row, problem, kernel_template), most_near_sizes);

    for (const auto& [layout, constants] : kernel_template.operation.layouts) {
        if (layout == problem.layout) continue;
        auto alike = problem;
        alike.layout = layout;
        add_winners(result.starts, nearest_first(store, device_row, alike, kernel_template.name),
                    most_sizes_of_a_layout);
    }

    auto others = store.devices();
    std::erase_if(others, [&](const auto& other) {
        return other.first == device_row || std::isinf(distance(device, other.second));
    });
    std::ranges::stable_sort(others, {}, [&](const auto& other) { return distance(device, other.second); });
    for (std::size_t i = 0; i < std::min(most_devices, others.size()); ++i) {
        add_winners(result.starts, nearest_first(store, others[i].first, problem, kernel_template.name), 1);
    }
    return result;
}

}  // namespace smemtune
