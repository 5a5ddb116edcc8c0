// Bayesian optimisation: a model of the cost is fitted to the observations and proposes what to try next.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A Gaussian process models the logarithm of the cost. Each proposal minimises the lower confidence bound, mean minus
/// two standard deviations, so it looks where costs are low and where little is known.
std::unique_ptr<Search> surrogate_search(SearchSetup setup);

}  // namespace smemtune
