#include "tuner/search/adaptive_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace smemtune {

UntriedPoints::UntriedPoints(std::size_t size) : points_(size), place_(size) {
    std::iota(points_.begin(), points_.end(), 0U);
    std::iota(place_.begin(), place_.end(), 0U);
}

void UntriedPoints::remove(std::size_t index) {
    if (!contains(index)) return;
    const auto last = points_.back();
    points_[place_[index]] = last;
    place_[last] = place_[index];
    place_[index] = std::numeric_limits<std::uint32_t>::max();
    points_.pop_back();
}

AdaptiveSearch::AdaptiveSearch(SearchSetup setup)
    : setup_(std::move(setup)), feature_cache_(setup_), random_(setup_.seed), untried_(setup_.space->size()) {
    for (const auto& start : setup_.starts) {
        if (const auto index = space().find(start)) starts_.push_back(*index);
    }
}

std::optional<Configuration> AdaptiveSearch::next() {
    while (!starts_.empty() && !untried_.contains(starts_.front())) starts_.pop_front();
    if (untried_.size() == 0) return std::nullopt;
    const auto index = starts_.empty() ? propose() : starts_.front();
    untried_.remove(index);
    return space()[index];
}

void AdaptiveSearch::observe(const Configuration& configuration, std::optional<double> cost) {
    const auto index = space().find(configuration);
    if (!index) return;
    untried_.remove(*index);
    const auto known = cost && std::isfinite(*cost) ? *cost : std::numeric_limits<double>::infinity();
    if (costs_.emplace(*index, known).second) update(*index, known);
}

std::size_t AdaptiveSearch::draw_untried() {
    constexpr int draws = 64;
    auto best = untried_.draw(random_);
    if (!feature_cache_.has_estimate()) return best;
    auto lowest = feature_cache_.estimate(best);
    for (int i = 1; i < draws; ++i) {
        const auto index = untried_.draw(random_);
        const auto estimate = feature_cache_.estimate(index);
        if (estimate >= lowest) continue;
        lowest = estimate;
        best = index;
    }
    return best;
}

}  // namespace smemtune
