#include "tuner/trial/sampling.h"

#include <algorithm>
#include <cmath>

#include "util/statistics.h"

namespace smemtune {

int Sampling::launches(double launch_us) const {
    const auto wanted = std::ceil(policy_.batch_us / std::max(launch_us, 0.1));
    return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(policy_.most_launches)));
}

void Sampling::add(double launch_us, double batch_us) {
    samples_us_.push_back(launch_us);
    total_us_ += batch_us;
}

bool Sampling::clearly_slower() const {
    if (!best_us_ || samples_us_.empty()) return false;
    const auto limit = samples_us_.size() == 1 ? std::max(policy_.behind, pruning::slow_single_sample) : policy_.behind;
    return std::ranges::min(samples_us_) > limit * *best_us_;
}

bool Sampling::finished() const {
    const auto count = static_cast<int>(samples_us_.size());
    if (clearly_slower() || count >= policy_.most_samples) return true;
    if (count < policy_.least_samples) return false;
    const auto measured = result();
    return total_us_ > policy_.longest_us || measured.spread_us <= policy_.steady_spread * measured.median_us;
}

Measurement Sampling::result() const {
    auto result = measurement_of(samples_us_);
    result.cut_short = clearly_slower();
    return result;
}

Measurement measurement_of(std::vector<double> samples_us) {
    const auto half_range = (quantile(samples_us, 0.75) - quantile(samples_us, 0.25)) / 2;
    const auto median = smemtune::median(samples_us);
    return {.median_us = median, .spread_us = half_range, .samples_us = std::move(samples_us)};
}

}  // namespace smemtune
