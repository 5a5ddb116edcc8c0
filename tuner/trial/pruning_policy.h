// The thresholds at which a candidate or template is too slow to be worth more time. A threshold is tighter where a
// wrong decision costs less.
#pragma once

#include <algorithm>

#include "db/outcome.h"

namespace smemtune::pruning {

/// A candidate gets no further sample if its fastest sample is more than this many times the best time. Samples of
/// one kernel differ by a few percent, so 25 % is far outside the noise.
inline constexpr double slow_candidate = 1.25;

/// While there is only one sample, this limit replaces slow_candidate. A single sample may be disturbed: 1 of 45,000
/// samples took 2.3 times as long as it should.
inline constexpr double slow_single_sample = 3;

/// A candidate is not timed if its first launch takes more than cold_factor * slow_candidate * best + cold_start_us.
/// The first launch is cold: loading the code takes up to 2 ms, and cold caches add some percent.
inline constexpr double cold_factor = 1.1;
inline constexpr double cold_start_us = 2000;

/// If the first launch of a candidate was too slow, a second launch decides, unless the first took this many times
/// the best time. The first launch may be slow only because it is the first. On the host device, it also creates the
/// threads' stacks.
inline constexpr double surely_slow = 10;

/// A candidate whose timing was cut short stays ruled out in a later run if its stored median is more than this many
/// times the best time. The factor is below slow_candidate, so that the candidate stays ruled out if the best time is
/// later a little longer.
inline constexpr double slow_stored_candidate = 1.2;

/// A template gets no further proposals if its best cost is more than this many times the best cost of all templates.
/// The limit falls as the template's space is used up (TemplateSearch::keeps_up()). In most spaces, a template's
/// first proposals come within a factor of 1.5 of its optimum.
inline constexpr double slow_template = 1.5;

/// The finals measure a candidate again if its cost exceeds the best cost by no more than a margin. The margin is
/// finals_spreads times the relative spread of the best measurement, but within the two limits below. So more
/// candidates are measured again if the best measurement is noisy.
inline constexpr double finals_spreads = 8;
inline constexpr double least_finals_margin = 0.02;
inline constexpr double most_finals_margin = 0.05;

/// The time of a first launch, in microseconds, above which a candidate is too slow to be timed.
inline double first_launch_limit_us(double slow_factor, double best_us) {
    return cold_factor * slow_factor * best_us + cold_start_us;
}

/// The largest cost that is admitted to the finals, as a multiple of the best cost.
inline double finals_limit(const Measurement& best) {
    return 1 + std::clamp(finals_spreads * best.spread_us / best.median_us, least_finals_margin, most_finals_margin);
}

}  // namespace smemtune::pruning
