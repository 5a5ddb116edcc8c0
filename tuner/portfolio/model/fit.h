// Fits time models to measured times.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// Fits the model of each of `members` to its times at `problems`: non-negative coefficients that minimise the weighted
/// sum of squared relative errors. The weight of a time is the best time divided by it. Each coefficient is regularised
/// towards that of the template's common model, so that a few times suffice. Where a term is 0 at all problems of the
/// member, the common model decides its coefficient. Error and residuals come from leave-one-out fits. Residuals are
/// dropped where neither the time nor its prediction is near the best.
std::vector<TimeModel> fit_models(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                  const std::vector<std::size_t>& members);

}  // namespace smemtune
