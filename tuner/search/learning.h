// What the searches that learn share: the starts come first, no point is proposed twice, points are indices.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <unordered_map>

#include "tuner/search/hints.h"

namespace smemtune {

/// The points not yet proposed. Every operation costs the same however many are left.
class Untried {
public:
    explicit Untried(std::size_t size);
    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] bool contains(std::size_t index) const { return place_[index] < points_.size(); }
    void remove(std::size_t index);
    /// Any of them, each as likely. Precondition: size() > 0.
    [[nodiscard]] std::size_t draw(std::mt19937_64& random) const { return points_[random() % points_.size()]; }

private:
    std::vector<std::uint32_t> points_;  // a ParameterSpace has at most 20 million
    std::vector<std::uint32_t> place_;   // of each point in points_, or what is beyond it
};

/// A strategy fills in propose() and, where an outcome makes it do something, learn().
class LearningSearch : public Search {
public:
    explicit LearningSearch(SearchSetup setup);
    std::optional<Configuration> next() final;
    void observe(const Configuration& configuration, std::optional<double> cost) final;

protected:
    /// What became of a point: its cost, or infinity when it was rejected.
    using Costs = std::unordered_map<std::size_t, double>;

    /// An untried point. Precondition: there is one.
    virtual std::size_t propose() = 0;
    /// Called once for each point, after its cost is known. A rejected one costs infinity.
    virtual void learn(std::size_t /*index*/, double /*cost*/) {}

    /// An untried point without regard to what was observed: the one of some that the estimate likes best.
    std::size_t fresh();
    /// A number below `bound`, which is more than 0.
    std::size_t below(std::size_t bound) { return random_() % bound; }
    /// Evenly distributed over [0, 1).
    double fraction() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
    template <typename T>
    void shuffle(std::vector<T>& values) {  // std::shuffle differs between standard libraries
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

    [[nodiscard]] const SearchSetup& setup() const { return setup_; }
    [[nodiscard]] Hints& hints() { return hints_; }
    [[nodiscard]] const ParameterSpace& space() const { return *setup_.space; }
    [[nodiscard]] const Untried& untried() const { return untried_; }
    [[nodiscard]] const Costs& costs() const { return costs_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }

private:
    SearchSetup setup_;
    Hints hints_;
    std::mt19937_64 random_;
    Untried untried_;
    std::deque<std::size_t> starts_;
    Costs costs_;
};

}  // namespace smemtune
