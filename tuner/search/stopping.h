// When a search has gone on long enough. Fed plain numbers; knows nothing of devices or configurations.
#pragma once

#include <cstddef>
#include <optional>

namespace smemtune {

struct StoppingPolicy {
    /// Further gain is unlikely once this many evaluations in a row brought none,
    std::size_t patience = 60;
    /// and once the search went on this many times as long as it took to find its best: a late find was hard to find.
    double persistence = 2;
    double gain = 0.005;  ///< an improvement by less than this share is none
};

class Stopping {
public:
    explicit Stopping(const StoppingPolicy& policy) : policy_(policy) {}

    /// The cost of one more evaluation; nothing when it was rejected.
    void add(std::optional<double> cost);
    [[nodiscard]] bool gain_is_unlikely() const;
    /// Whether it was after some evaluation up to now: a gain may have come later, from elsewhere.
    [[nodiscard]] bool gain_was_unlikely() const { return was_unlikely_; }
    [[nodiscard]] std::size_t evaluations() const { return evaluations_; }
    [[nodiscard]] std::optional<double> best() const { return best_; }

private:
    StoppingPolicy policy_;
    std::size_t evaluations_ = 0;
    std::size_t found_at_ = 0;       // the evaluation that brought the last gain
    std::optional<double> best_;     // the least cost
    std::optional<double> to_beat_;  // the cost at the last gain: small steps add up to one
    bool was_unlikely_ = false;
};

}  // namespace smemtune
