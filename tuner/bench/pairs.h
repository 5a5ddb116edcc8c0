// Compares the speed of two kernels from alternating samples. The samples are plain numbers: no device is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/statistics.h"

namespace smemtune {

struct PairPolicy {
    std::size_t least = 30;   ///< least number of valid pairs; must be at least `least_for_interval`
    std::size_t most = 120;   ///< maximum number of valid pairs; reached if the interval stays wide
    double narrow = 0.005;    ///< sampling ends when the interval is narrower than this share of the ratio
    double longest_us = 5e6;  ///< time limit for all samples; after it, `least_for_interval` pairs suffice
    double sag = 0.02;        ///< drops pairs whose clock is more than this share below the clocks' upper quartile
};

/// One sample of each kernel, taken one after the other.
struct Pair {
    double ours_us = 0;
    double theirs_us = 0;
    std::int64_t clock_khz = 0;  ///< the lower of the two samples' clocks; 0 if unknown
};

struct Ratio {
    double median = 0;  ///< median of theirs_us / ours_us over valid pairs; above 1 if ours is faster
    double low = 0;     ///< `low` to `high`: 95 % confidence interval, by order statistics
    double high = 0;
    double ours_us = 0;  ///< median times; their ratio may differ from `median`
    double theirs_us = 0;
    std::size_t pairs = 0;       ///< number of valid pairs
    std::size_t dropped = 0;     ///< pairs that were dropped because the clock sagged
    std::int64_t clock_khz = 0;  ///< upper quartile of the pairs' clocks; 0 if unknown
};

class Pairs {
public:
    explicit Pairs(const PairPolicy& policy) : policy_(policy) {}

    /// Adds a pair. `total_us` is the time that measuring it took.
    void add(const Pair& pair, double total_us);
    [[nodiscard]] bool finished() const;
    /// Returns the ratio over the pairs so far. Precondition: at least one pair was added.
    [[nodiscard]] Ratio result() const;

private:
    PairPolicy policy_;
    std::vector<Pair> pairs_;
    double total_us_ = 0;
};

}  // namespace smemtune
