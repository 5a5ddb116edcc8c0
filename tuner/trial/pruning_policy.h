// When something is too slow to be worth more time. Every threshold of a run stands here, with the question that it
// answers. They differ because the questions differ: the cheaper a wrong answer, the tighter the threshold.
#pragma once

#include <algorithm>

#include "db/outcome.h"

namespace smemtune::pruning {

/// Is another sample of this candidate worth taking? No when its fastest sample is this many times the best. Samples
/// of one kernel differ by a few percent, so a quarter is far outside the noise.
inline constexpr double slow_candidate = 1.25;

/// Are the other checks worth a candidate whose first launch was this slow? That launch is cold: loading code late
/// takes up to 2 ms, and empty caches take some percent. So the limit is
/// cold_factor * slow_candidate * best + cold_start_us.
inline constexpr double cold_factor = 1.1;
inline constexpr double cold_start_us = 2000;

/// Does the stored median of a candidate that was cut short rule it out now? Yes when it is this many times the best.
/// Below slow_candidate, so that a candidate stays ruled out when the best is measured again, a little slower.
inline constexpr double slow_stored_candidate = 1.2;

/// Is another proposal of this template worthwhile? No when its best is this many times the best of all templates.
/// After its first proposals a template is within 1.5 of what it can reach, in most spaces.
inline constexpr double slow_template = 1.5;

/// May a candidate that costs more than the best be the best in truth? Yes within this share of the best's cost: a
/// multiple of its spread, so that a noisy best admits more finalists, between two bounds.
inline constexpr double finals_spreads = 8;
inline constexpr double least_finals_margin = 0.02;
inline constexpr double most_finals_margin = 0.05;

/// Microseconds of a first launch above which the other checks are skipped.
inline double first_launch_limit_us(double slow_factor, double best_us) {
    return cold_factor * slow_factor * best_us + cold_start_us;
}

/// The largest cost that takes part in the finals, as a multiple of the best's.
inline double finals_limit(const Measurement& best) {
    return 1 + std::clamp(finals_spreads * best.spread_us / best.median_us, least_finals_margin, most_finals_margin);
}

}  // namespace smemtune::pruning
