// Decides from the observed costs alone when to stop a search.
#pragma once

#include <cstddef>
#include <optional>

namespace smemtune {

struct StoppingPolicy {
    /// A further gain counts as unlikely only after this many evaluations in a row without a gain.
    std::size_t patience = 70;
    /// If the last gain came at evaluation n, a further gain counts as unlikely only after `persistence` * n
    /// evaluations in all. After a late gain, the next gain may also take long, so a short time without gains says
    /// little.
    double persistence = 1.25;
    double gain = 0.005;  ///< a gain lowers the cost by more than this share
};

class Stopping {
public:
    explicit Stopping(const StoppingPolicy& policy) : policy_(policy) {}

    /// Adds one more evaluation. `cost` is empty if the configuration was rejected.
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
