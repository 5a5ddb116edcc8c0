// When to stop timing a candidate. Fed plain numbers; knows nothing of devices.
#pragma once

#include <optional>
#include <vector>

#include "db/outcome.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

struct SamplingPolicy {
    double batch_us = 2000;   ///< a sample is a batch of launches about this long, so that the clock's grain is small
    int most_launches = 200;  ///< of one batch
    int least_samples = 3;
    int most_samples = 9;
    double steady_spread =
        0.005;  ///< enough once half the distance between quartiles is below this share of the median
    double behind = pruning::slow_candidate;  ///< a candidate this many times the best is not sampled further
    double longest_us = 1e6;                  ///< nor one whose samples have taken this long, beyond the least
    bool energy = false;  ///< measure the energy of a launch as well, of what is not cut short: a third of a second
};

class Sampling {
public:
    /// `best_us`: the fastest candidate so far. Without one, no candidate is clearly slower.
    explicit Sampling(const SamplingPolicy& policy, std::optional<double> best_us = std::nullopt)
        : policy_(policy), best_us_(best_us) {}

    /// Launches for the next batch, given what one launch is known to take.
    [[nodiscard]] int launches(double launch_us) const;
    /// The mean of one batch, in microseconds per launch; `batch_us` is what the batch took.
    void add(double launch_us, double batch_us);
    [[nodiscard]] bool finished() const;
    /// Median and spread of what was added. Precondition: something was.
    [[nodiscard]] Measurement result() const;

private:
    [[nodiscard]] bool clearly_slower() const;

    SamplingPolicy policy_;
    std::optional<double> best_us_;
    double total_us_ = 0;
    std::vector<double> samples_us_;
};

/// Median and spread of samples, whatever took them. Precondition: not empty.
Measurement measurement_of(std::vector<double> samples_us);

}  // namespace smemtune
