// The thresholds at which a candidate or template is too slow to be worth more time. The comment above each threshold
// says which question it answers. A threshold is tighter where a wrong answer costs less.
#pragma once

#include <algorithm>

#include "db/outcome.h"

namespace smemtune::pruning {

/// Is another sample of this candidate worthwhile? No if its fastest sample is this many times as long as the best
/// time. Samples of one kernel differ by a few percent, so 25 % is far outside the noise.
inline constexpr double slow_candidate = 1.25;

/// Does a single sample suffice for this answer? Only if it is this many times as long as the best time. A disturbance
/// of the device made 1 of 45,000 samples 2.3 times as long.
inline constexpr double slow_single_sample = 3;

/// Is timing worthwhile for a candidate with a slow first launch? Not if the launch took longer than cold_factor *
/// slow_candidate * best + cold_start_us. The first launch is cold: loading the code takes up to 2 ms, and cold caches
/// add some percent.
inline constexpr double cold_factor = 1.1;
inline constexpr double cold_start_us = 2000;

/// May a slow first launch have been slow only because it was the first? Not if it took this many times the best time.
/// Otherwise, a second launch decides. On the host device, the first launch also creates the threads' stacks.
inline constexpr double surely_slow = 10;

/// The timing of a candidate was cut short, and its median was stored. Does that median still rule the candidate out?
/// Yes if it is this many times the best time. The factor is below slow_candidate, so that the candidate stays ruled
/// out if the best time is later a little longer.
inline constexpr double slow_stored_candidate = 1.2;

/// Is another proposal of this template worthwhile? No if the template's best cost is this many times the best of all
/// templates. In most spaces, a template's first proposals come within a factor of 1.5 of its optimum.
inline constexpr double slow_template = 1.5;

/// Is a candidate measured again in the finals? Yes if its cost exceeds the best cost by no more than a margin. The
/// margin is finals_spreads times the relative spread of the best measurement, but within the two limits below. More
/// finalists are thus admitted if the best measurement is noisy.
inline constexpr double finals_spreads = 8;
inline constexpr double least_finals_margin = 0.02;
inline constexpr double most_finals_margin = 0.05;

/// A candidate whose first launch takes more microseconds than this is not timed.
inline double first_launch_limit_us(double slow_factor, double best_us) {
    return cold_factor * slow_factor * best_us + cold_start_us;
}

/// The largest cost that is admitted to the finals, as a multiple of the best cost.
inline double finals_limit(const Measurement& best) {
    return 1 + std::clamp(finals_spreads * best.spread_us / best.median_us, least_finals_margin, most_finals_margin);
}

}  // namespace smemtune::pruning
