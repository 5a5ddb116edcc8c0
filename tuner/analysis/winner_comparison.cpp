#include "tuner/analysis/winner_comparison.h"

#include <map>

#include "util/statistics.h"

namespace smemtune {

namespace {

using DeviceAndProblem = std::pair<std::string, std::string>;

std::map<DeviceAndProblem, TrialRow> winners_of(const Store& store, Store::Filter filter) {
    filter.best_only = true;
    filter.limit = {};
    std::map<DeviceAndProblem, TrialRow> winners;
    for (auto& row : store.rows(filter)) {
        DeviceAndProblem place{row.device, to_text(row.problem)};
        winners.try_emplace(std::move(place), std::move(row));
    }
    return winners;
}

const Measurement& measurement_of(const TrialRow& row) { return std::get<Measurement>(row.record.outcome); }

}  // namespace

std::vector<WinnerPair> winner_pairs(const Store& first, const Store& second, const Store::Filter& filter) {
    std::map<DeviceAndProblem, WinnerPair> pairs;
    for (auto& [place, row] : winners_of(first, filter)) {
        auto& pair = pairs.try_emplace(place, WinnerPair{row.device, row.problem, {}, {}}).first->second;
        pair.first = std::move(row);
    }
    for (auto& [place, row] : winners_of(second, filter)) {
        auto& pair = pairs.try_emplace(place, WinnerPair{row.device, row.problem, {}, {}}).first->second;
        pair.second = std::move(row);
    }
    std::vector<WinnerPair> list;
    list.reserve(pairs.size());
    for (auto& [place, pair] : pairs) list.push_back(std::move(pair));
    return list;
}

std::optional<std::pair<double, double>> median_interval(const Measurement& measured) {
    if (measured.samples_us.empty()) return std::nullopt;
    const std::vector<double> ones(measured.samples_us.size(), 1.0);
    return ratio_interval(measured.samples_us, ones);
}

std::optional<SpeedChange> speed_change(const WinnerPair& pair) {
    if (!pair.first || !pair.second) return std::nullopt;
    const auto& before = measurement_of(*pair.first);
    const auto& now = measurement_of(*pair.second);
    const auto [before_low, before_high] =
        median_interval(before).value_or(std::pair{before.median_us, before.median_us});
    const auto [now_low, now_high] = median_interval(now).value_or(std::pair{now.median_us, now.median_us});
    SpeedChange change{
        .ratio = before.median_us / now.median_us, .low = before_low / now_high, .high = before_high / now_low};
    if (change.low > 1 + noise_between_runs) change.verdict = SpeedChange::Verdict::faster;
    if (change.high < 1 - noise_between_runs) change.verdict = SpeedChange::Verdict::slower;
    return change;
}

}  // namespace smemtune
