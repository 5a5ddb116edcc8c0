#include "tuner/bench/pairs.h"

#include <algorithm>

#include "util/statistics.h"

namespace smemtune {

namespace {

// Returns the clock at which the device usually ran: the upper quartile. Unlike the median, it is not lowered by a
// clock that sags half of the time. Unlike the maximum, it is not raised by one short boost.
double usual_clock(const std::vector<Pair>& pairs) {
    std::vector<double> known;
    for (const auto& pair : pairs) {
        if (pair.clock_khz > 0) known.push_back(static_cast<double>(pair.clock_khz));
    }
    return known.empty() ? 0 : quantile(known, 0.75);
}

}  // namespace

void Pairs::add(const Pair& pair, double total_us) {
    pairs_.push_back(pair);
    total_us_ += total_us;
}

bool Pairs::finished() const {
    if (pairs_.empty()) return false;
    const auto ratio = result();
    // There will be enough pairs at some time: result() keeps each pair whose clock is at or above the upper quartile,
    // which is at least a quarter of the pairs.
    if (ratio.pairs < least_for_interval) return false;
    if (total_us_ > policy_.longest_us) return true;
    if (ratio.pairs < policy_.least) return false;
    return ratio.pairs >= policy_.most || ratio.high - ratio.low <= policy_.narrow * ratio.median;
}

Ratio Pairs::result() const {
    const auto usual = usual_clock(pairs_);
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    for (const auto& [ours_us, theirs_us, clock_khz] : pairs_) {
        if (clock_khz > 0 && static_cast<double>(clock_khz) < (1 - policy_.sag) * usual) continue;
        ours.push_back(ours_us);
        theirs.push_back(theirs_us);
        ratios.push_back(theirs_us / ours_us);
    }
    const auto [low, high] = ratio_interval(theirs, ours);
    return {.median = median(ratios),
            .low = low,
            .high = high,
            .ours_us = median(ours),
            .theirs_us = median(theirs),
            .pairs = ratios.size(),
            .dropped = pairs_.size() - ratios.size(),
            .clock_khz = static_cast<std::int64_t>(usual)};
}

}  // namespace smemtune
