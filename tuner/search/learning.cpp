#include "tuner/search/learning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace smemtune {

Untried::Untried(std::size_t size) : points_(size), place_(size) {
    std::iota(points_.begin(), points_.end(), 0U);
    std::iota(place_.begin(), place_.end(), 0U);
}

void Untried::remove(std::size_t index) {
    if (!contains(index)) return;
    const auto last = points_.back();
    points_[place_[index]] = last;
    place_[last] = place_[index];
    place_[index] = std::numeric_limits<std::uint32_t>::max();
    points_.pop_back();
}

LearningSearch::LearningSearch(SearchSetup setup)
    : setup_(std::move(setup)), hints_(setup_), random_(setup_.seed), untried_(setup_.space->size()) {
    for (const auto& start : setup_.starts) {
        if (const auto index = space().find(start)) starts_.push_back(*index);
    }
}

std::optional<Configuration> LearningSearch::next() {
    while (!starts_.empty() && !untried_.contains(starts_.front())) starts_.pop_front();
    if (untried_.size() == 0) return std::nullopt;
    const auto index = starts_.empty() ? propose() : starts_.front();
    untried_.remove(index);
    return space()[index];
}

void LearningSearch::observe(const Configuration& configuration, std::optional<double> cost) {
    const auto index = space().find(configuration);
    if (!index) return;
    untried_.remove(*index);
    const auto known = cost && std::isfinite(*cost) ? *cost : std::numeric_limits<double>::infinity();
    if (costs_.emplace(*index, known).second) learn(*index, known);
}

std::size_t LearningSearch::fresh() {
    constexpr int draws = 64;
    auto best = untried_.draw(random_);
    if (!hints_.has_estimate()) return best;
    auto lowest = hints_.estimate(best);
    for (int i = 1; i < draws; ++i) {
        const auto index = untried_.draw(random_);
        const auto estimate = hints_.estimate(index);
        if (estimate >= lowest) continue;
        lowest = estimate;
        best = index;
    }
    return best;
}

}  // namespace smemtune
