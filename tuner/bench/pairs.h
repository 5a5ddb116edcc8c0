// Compares the speed of two kernels from alternating samples. It is fed plain numbers and knows nothing of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/statistics.h"

namespace smemtune {

struct PairPolicy {
    std::size_t least = 30;   ///< least number of valid pairs, at least `least_for_interval`
    std::size_t most = 120;   ///< most pairs, if the interval stays wide
    double narrow = 0.005;    ///< stop once the interval is narrower than this share of the ratio
    double longest_us = 5e6;  ///< time limit for all samples; beyond it, `least_for_interval` pairs suffice
    double sag = 0.02;        ///< a pair is dropped if its clock is this share below the usual one
};

/// One sample of each kernel, taken one after the other.
struct Pair {
    double ours_us = 0;
    double theirs_us = 0;
    std::int64_t clock_khz = 0;  ///< the lower of the two; 0 when unknown
};

struct Ratio {
    double median = 0;  ///< median of theirs / ours over valid pairs; above 1, ours is faster
    double low = 0;     ///< 95 % confidence interval, by order statistics
    double high = 0;
    double ours_us = 0;  ///< median times; `median` is the median of the ratios, not the ratio of these
    double theirs_us = 0;
    std::size_t pairs = 0;       ///< valid pairs
    std::size_t dropped = 0;     ///< pairs dropped because the clock sagged
    std::int64_t clock_khz = 0;  ///< the usual clock; 0 when unknown
};

class Pairs {
public:
    explicit Pairs(const PairPolicy& policy) : policy_(policy) {}

    /// `total_us` is the time that it took to measure the pair.
    void add(const Pair& pair, double total_us);
    [[nodiscard]] bool finished() const;
    /// Precondition: at least one pair was added.
    [[nodiscard]] Ratio result() const;

private:
    PairPolicy policy_;
    std::vector<Pair> pairs_;
    double total_us_ = 0;
};

}  // namespace smemtune
