// How much faster one kernel is than another, from samples taken in turn. Fed plain numbers; knows nothing of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/statistics.h"

namespace smemtune {

struct PairPolicy {
    std::size_t least = 30;   ///< pairs that count; fewer than `least_for_interval` are as many as that
    std::size_t most = 120;   ///< where the interval stays wide
    double narrow = 0.005;    ///< it is narrow once its width is below this share of the ratio
    double longest_us = 5e6;  ///< of samples in all; beyond it the fewest pairs that give an interval are enough
    double sag = 0.02;        ///< pairs whose clock is this share below the usual one do not count
};

/// One sample of each kernel, taken one after the other.
struct Pair {
    double ours_us = 0;
    double theirs_us = 0;
    std::int64_t clock_khz = 0;  ///< the lower of the two; 0 when unknown
};

struct Ratio {
    double median = 0;  ///< of theirs / ours over the pairs that count: above 1, ours is faster
    double low = 0;     ///< and where it lies with 95 % confidence, by order statistics
    double high = 0;
    double ours_us = 0;  ///< medians, for the record: the ratio is not theirs
    double theirs_us = 0;
    std::size_t pairs = 0;       ///< that count
    std::size_t dropped = 0;     ///< taken while the clock sagged
    std::int64_t clock_khz = 0;  ///< the usual one, 0 when unknown
};

class Pairs {
public:
    explicit Pairs(const PairPolicy& policy) : policy_(policy) {}

    /// `total_us`: what taking it took.
    void add(const Pair& pair, double total_us);
    [[nodiscard]] bool finished() const;
    /// Precondition: something was added.
    [[nodiscard]] Ratio result() const;

private:
    PairPolicy policy_;
    std::vector<Pair> pairs_;
    double total_us_ = 0;
};

}  // namespace smemtune
