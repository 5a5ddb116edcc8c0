// Fits time models to measured times.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// Fits the model of each of `members` to its times at `problems`. The coefficients are non-negative and minimise the
/// weighted sum of squared relative errors. The weight of a time is the best time at the problem divided by this time.
/// Coefficients are regularised towards the common model of the template, so that a few measured times suffice. If a
/// term is 0 at all problems of a member, its coefficient is that of the common model. Error and residuals come from
/// leave-one-out fits. A residual is dropped if neither the time nor the prediction is near the best time.
std::vector<TimeModel> fit_models(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                  const std::vector<std::size_t>& members);

}  // namespace smemtune
