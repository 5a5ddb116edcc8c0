// The thresholds at which a candidate or template is too slow to be worth more time. Each threshold answers its own
// question. It is tighter where a wrong answer costs less.
#pragma once

#include <algorithm>

#include "db/outcome.h"

namespace smemtune::pruning {

/// Is another sample of this candidate worthwhile? No if its fastest sample is this many times the best. Samples of one
/// kernel differ by a few percent, so 25 % is far outside the noise.
inline constexpr double slow_candidate = 1.25;

/// Is timing worthwhile for a candidate with a slow first launch? The first launch is cold: loading the code
/// takes up to 2 ms, and cold caches add some percent. The limit is therefore cold_factor * slow_candidate * best +
/// cold_start_us.
inline constexpr double cold_factor = 1.1;
inline constexpr double cold_start_us = 2000;

/// Does the stored median of a candidate that was cut short still rule it out? Yes if it is this many times the best.
/// The factor is below slow_candidate, so that the candidate stays ruled out if the best is later measured a little
/// slower.
inline constexpr double slow_stored_candidate = 1.2;

/// Is another proposal of this template worthwhile? No if its best is this many times the best of all templates. In
/// most spaces, a template's first proposals come within a factor of 1.5 of its optimum.
inline constexpr double slow_template = 1.5;

/// May a slower candidate really be the fastest? Yes if its cost is within this share of the best's cost. The share is
/// a multiple of the best's spread, so that a noisy best admits more finalists, between a lower and an upper bound.
inline constexpr double finals_spreads = 8;
inline constexpr double least_finals_margin = 0.02;
inline constexpr double most_finals_margin = 0.05;

/// A candidate whose first launch takes more microseconds than this is not timed.
inline double first_launch_limit_us(double slow_factor, double best_us) {
    return cold_factor * slow_factor * best_us + cold_start_us;
}

/// The largest cost that is admitted to the finals, as a multiple of the best's.
inline double finals_limit(const Measurement& best) {
    return 1 + std::clamp(finals_spreads * best.spread_us / best.median_us, least_finals_margin, most_finals_margin);
}

}  // namespace smemtune::pruning
