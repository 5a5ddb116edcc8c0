// Decides from the observed costs alone when to stop a search.
#pragma once

#include <cstddef>
#include <optional>

namespace smemtune {

struct StoppingPolicy {
    /// Gain is unlikely only after at least this many evaluations in a row without a gain.
    std::size_t patience = 70;
    /// If the last gain came at evaluation n, gain is unlikely only after at least `persistence` * n evaluations,
    /// because a late gain means that gains are rare.
    double persistence = 1.25;
    double gain = 0.005;  ///< the least improvement, as a share of the cost, that is a gain
};

class Stopping {
public:
    explicit Stopping(const StoppingPolicy& policy) : policy_(policy) {}

    /// Adds the cost of one more evaluation; nothing if the configuration was rejected.
    void add(std::optional<double> cost);
    [[nodiscard]] bool gain_is_unlikely() const;
    /// Whether gain_is_unlikely() was true after any evaluation so far, even if a gain followed.
    [[nodiscard]] bool gain_was_unlikely() const { return was_unlikely_; }
    [[nodiscard]] std::size_t evaluations() const { return evaluations_; }
    [[nodiscard]] std::optional<double> best() const { return best_; }

private:
    StoppingPolicy policy_;
    std::size_t evaluations_ = 0;
    std::size_t found_at_ = 0;       // the number of the evaluation that brought the last gain
    std::optional<double> best_;     // the lowest cost observed so far
    std::optional<double> to_beat_;  // the cost at the last gain; a cost that is lower by `gain` is the next gain
    bool was_unlikely_ = false;
};

}  // namespace smemtune
