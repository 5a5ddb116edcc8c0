// Fits time models to measured times.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/portfolio/cross_times.h"

namespace smemtune {

/// The model of each of `members`, fitted to its times at `problems`: the coefficients, not negative, that minimise the
/// squares of the relative errors. A time near the best counts more, in proportion to the best time over it. Each
/// coefficient is drawn a little towards that of the template's common model, so that a few times suffice. The error is
/// that of times that were left out of the fit, one after another.
std::vector<TimeModel> fit_models(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                  const std::vector<std::size_t>& members);

}  // namespace smemtune
