// Decides from measured times alone when to stop timing a candidate.
#pragma once

#include <optional>
#include <vector>

#include "db/outcome.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

struct SamplingPolicy {
    double batch_us = 2000;   ///< target time of a batch (one sample), long compared with the clock's resolution
    int most_launches = 200;  ///< the most launches in one batch
    int least_samples = 3;
    int most_samples = 9;
    double steady_spread = 0.005;  ///< stop once half the interquartile range is below this share of the median
    /// Stop if the fastest sample is this many times the best candidate's time. While there is only one sample, the
    /// limit is pruning::slow_single_sample.
    double behind = pruning::slow_candidate;
    /// Stop after this many microseconds of sampling, unless there are too few samples.
    double longest_us = 1e6;
    bool energy = false;  ///< also measure energy, for a third of a second, unless timing was cut short
};

class Sampling {
public:
    /// `best_us` is the time of the fastest candidate so far. Without `best_us`, no candidate is cut short for being
    /// slow.
    explicit Sampling(const SamplingPolicy& policy, std::optional<double> best_us = std::nullopt)
        : policy_(policy), best_us_(best_us) {}

    /// The number of launches in the next batch, given the time of one launch.
    [[nodiscard]] int launches(double launch_us) const;
    /// Adds a batch: its mean time per launch, in microseconds, and the time of the whole batch.
    void add(double launch_us, double batch_us);
    [[nodiscard]] bool finished() const;
    /// Median and spread of the added samples. Precondition: at least one was added.
    [[nodiscard]] Measurement result() const;

private:
    [[nodiscard]] bool clearly_slower() const;

    SamplingPolicy policy_;
    std::optional<double> best_us_;
    double total_us_ = 0;
    std::vector<double> samples_us_;
};

/// Median and spread of the given samples. Precondition: not empty.
Measurement measurement_of(std::vector<double> samples_us);

}  // namespace smemtune
