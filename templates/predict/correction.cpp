#include "templates/predict/correction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace smemtune {

namespace {

// The weight of a measurement at the same problem is 1. At a distance equal to the reach (reach_of), the weight is
// 0.61.
constexpr double doubt = 0.2;          // the weight of the uncorrected model
constexpr double least_error = 0.012;  // the error of a prediction with many measurements nearby

// With fewer measured problems, the reach is larger, so that the number of problems within it stays about the same. At
// a distance of 0.7, one extent differs by a factor of 2. The reaches were compared for matrix products, by the errors
// at problems that the fit left out (docs/attempts.md, Errors of predictions).
double reach_of(std::size_t problems, std::size_t extents) {
    constexpr double least = 0.7;
    constexpr double most = 1.4;
    const auto many_along_an_extent = std::cbrt(1300.0);  // 1,300 problems of three extents suffice for the least reach
    const auto along_an_extent =
        std::pow(static_cast<double>(problems), 1 / static_cast<double>(std::max<std::size_t>(extents, 1)));
    return std::clamp(least * many_along_an_extent / std::max(along_an_extent, 1.0), least, most);
}

}  // namespace

Correction::Correction(std::span<const TimeModel> models, RowAlignment alignment) : alignment_(std::move(alignment)) {
    std::map<std::vector<double>, std::size_t> numbers;
    std::size_t extents = 0;
    for (const auto& model : models) {
        for (const auto& residual : model.residuals) {
            if (numbers.empty()) extents = residual.place.size();
            if (residual.place.size() != extents) continue;
            const auto number = numbers.size();
            if (!numbers.try_emplace(residual.place, number).second) continue;
            const auto whole = alignment_.of(extents_at(residual.place));
            auto& group = groups_[whole.of_16_bytes];
            group.of_32_bytes.push_back(whole.of_32_bytes);
            group.places.resize(extents);
            group.problems.push_back(number);
            for (std::size_t i = 0; i < extents; ++i) group.places[i].push_back(residual.place[i]);
        }
    }
    reach_ = reach_of(numbers.size(), extents);
    for (const auto& model : models) {
        auto& row = residuals_.emplace_back(numbers.size());
        for (const auto& residual : model.residuals) {
            if (residual.place.size() == extents) row[numbers.at(residual.place)] = {1, residual.log_ratio};
        }
    }
}

void Correction::find(std::span<const double> place, std::vector<Near>& near) const {
    find(alignment_.of(extents_at(place)), place, near);
}

void Correction::find(const Problem& problem, Scratch& scratch) const {
    place_of(problem, scratch.place);
    find(alignment_.of(problem, scratch.columns), scratch.place, scratch.near);
}

void Correction::find(const WholeUnits& whole, std::span<const double> place, std::vector<Near>& near) const {
    near.clear();
    const auto found = groups_.find(whole.of_16_bytes);
    if (found == groups_.end()) return;
    const auto& [problems, places, of_32_bytes] = found->second;
    if (place.size() != places.size()) return;
    near.resize(problems.size());  // at first, `weight` is the square of the distance
    for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t j = 0; j < near.size(); ++j) {
            const auto difference = places[i][j] - place[i];
            near[j].weight += difference * difference;
        }
    }
    const auto farthest = 3 * reach_;  // farther measurements are left out, because their weight is below 0.012
    std::size_t kept = 0;
    for (std::size_t j = 0; j < near.size(); ++j) {
        const auto squared = near[j].weight;
        if (squared >= farthest * farthest) continue;
        const auto weight = std::exp(-squared / (2 * reach_ * reach_));
        const auto halvings = std::popcount(of_32_bytes[j] ^ whole.of_32_bytes);
        near[kept++] = {problems[j], std::ldexp(weight, -halvings)};
    }
    near.resize(kept);
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

double Correction::Corrected::error(double model_error) const {
    return std::sqrt((1 - trust) * model_error * model_error + trust * least_error * least_error);
}

std::vector<std::int64_t> extents_at(std::span<const double> place) {
    constexpr double largest_logarithm = 40;  // e^40 still fits in 64 bits
    std::vector<std::int64_t> extents;
    extents.reserve(place.size());
    for (const double log : place) extents.push_back(std::llround(std::exp(std::min(log, largest_logarithm))));
    return extents;
}

void place_of(const Problem& problem, std::vector<double>& place) {
    place.clear();
    for (const auto& extent : problem.extents) place.push_back(std::log(static_cast<double>(extent.second)));
}

}  // namespace smemtune
