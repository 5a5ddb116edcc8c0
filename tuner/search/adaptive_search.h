// The base class of searches that adapt to observed costs. It proposes the start points first, and no point twice.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <unordered_map>

#include "tuner/search/feature_cache.h"

namespace smemtune {

/// The points of a space that were neither proposed nor observed yet. All operations take constant time.
class UntriedPoints {
public:
    explicit UntriedPoints(std::size_t size);
    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] bool contains(std::size_t index) const { return place_[index] < points_.size(); }
    void remove(std::size_t index);
    /// Returns a point drawn uniformly. Precondition: size() > 0.
    [[nodiscard]] std::size_t draw(std::mt19937_64& random) const { return points_[random() % points_.size()]; }

private:
    std::vector<std::uint32_t> points_;  // 32 bits suffice: a ParameterSpace has at most 24 million points
    std::vector<std::uint32_t> place_;   // the index of each point in points_; the largest integer for a removed point
};

/// A strategy overrides propose(). It also overrides update() if its state depends on outcomes. The protected functions
/// represent a point by its index in the space.
class AdaptiveSearch : public Search {
public:
    explicit AdaptiveSearch(SearchSetup setup);
    std::optional<Configuration> next() final;
    void observe(const Configuration& configuration, std::optional<double> cost) final;

protected:
    /// The cost of a rejected point.
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    /// The cost of each point whose outcome is known; infinity for a rejected point.
    using Costs = std::unordered_map<std::size_t, double>;

    /// Returns an untried point. Precondition: untried() is not empty.
    virtual std::size_t propose() = 0;
    /// Called once for each point, when its cost becomes known. A cost of infinity means that the point was rejected.
    virtual void update(std::size_t /*index*/, double /*cost*/) {}

    /// Returns an untried point drawn at random, independent of the observations. If the setup has an estimate, draws
    /// several points and returns the one with the lowest estimate.
    std::size_t draw_untried();
    /// Returns a uniform random integer in 0 ... bound - 1. Precondition: bound > 0.
    std::size_t random_below(std::size_t bound) { return random_() % bound; }
    /// Returns a uniform random number in [0, 1).
    double random_fraction() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
    template <typename T>
    void shuffle(std::vector<T>& values) {  // std::shuffle's order differs between standard libraries
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_below(i)]);
    }

    [[nodiscard]] const SearchSetup& setup() const { return setup_; }
    [[nodiscard]] FeatureCache& feature_cache() { return feature_cache_; }
    [[nodiscard]] const ParameterSpace& space() const { return *setup_.space; }
    [[nodiscard]] const UntriedPoints& untried() const { return untried_; }
    [[nodiscard]] const Costs& costs() const { return costs_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }

private:
    SearchSetup setup_;
    FeatureCache feature_cache_;
    std::mt19937_64 random_;
    UntriedPoints untried_;
    std::deque<std::size_t> starts_;
    Costs costs_;
};

}  // namespace smemtune
