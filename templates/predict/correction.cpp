#include "templates/predict/correction.h"

#include <array>
#include <cmath>
#include <map>

namespace smemtune {

namespace {

// A measurement at the same problem has the weight 1. A measurement at a distance of `reach` (one extent differs by a
// factor of e) has the weight 0.61. `doubt` is the weight of the uncorrected model. Measurements beyond three times
// `reach` are left out, because their weight is below 0.012.
constexpr double reach = 1.0;
constexpr double doubt = 0.3;
constexpr double farthest = 3 * reach;

}  // namespace

Correction::Correction(std::span<const TimeModel> models) {
    std::map<std::vector<double>, std::size_t> numbers;
    for (const auto& model : models) {
        for (const auto& residual : model.residuals) {
            if (places_.empty()) places_.resize(residual.place.size());
            if (residual.place.size() != places_.size()) continue;
            if (!numbers.try_emplace(residual.place, numbers.size()).second) continue;
            for (std::size_t i = 0; i < places_.size(); ++i) places_[i].push_back(residual.place[i]);
        }
    }
    for (const auto& model : models) {
        auto& row = residuals_.emplace_back(numbers.size());
        for (const auto& residual : model.residuals) {
            if (residual.place.size() == places_.size()) row[numbers.at(residual.place)] = {1, residual.log_ratio};
        }
    }
}

void Correction::find(std::span<const double> place, std::vector<Near>& near) const {
    near.clear();
    if (places_.empty() || place.size() != places_.size()) return;
    std::vector<double> squared(places_.front().size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
        for (std::size_t problem = 0; problem < squared.size(); ++problem) {
            const auto difference = places_[i][problem] - place[i];
            squared[problem] += difference * difference;
        }
    }
    for (std::size_t problem = 0; problem < squared.size(); ++problem) {
        if (squared[problem] >= farthest * farthest) continue;
        near.push_back({problem, std::exp(-squared[problem] / (2 * reach * reach))});
    }
}

Correction::Corrected Correction::of(std::size_t model, std::span<const Near> near) const {
    if (near.empty()) return {1, 0};
    // Computes four sums at a time, because an addition to a single sum would wait for the addition before it.
    constexpr std::size_t lanes = 4;
    std::array<Residual, lanes> sums{};
    const auto* const residuals = residuals_[model].data();
    const auto add = [&](std::size_t lane, const Near& each) {
        const auto& [measured, log_ratio] = residuals[each.problem];
        sums[lane].measured += each.weight * measured;
        sums[lane].log_ratio += each.weight * log_ratio;
    };
    std::size_t i = 0;
    for (; i + lanes <= near.size(); i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) add(lane, near[i + lane]);
    }
    for (; i < near.size(); ++i) add(i % lanes, near[i]);
    double weights = 0;
    double sum = 0;
    for (const auto& each : sums) {
        weights += each.measured;
        sum += each.log_ratio;
    }
    return {std::exp(sum / (doubt + weights)), weights / (doubt + weights)};
}

void place_of(const Problem& problem, std::vector<double>& place) {
    place.clear();
    for (const auto& extent : problem.extents) place.push_back(std::log(static_cast<double>(extent.second)));
}

}  // namespace smemtune
