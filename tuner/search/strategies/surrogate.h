// A search that learns a model of the cost from what was observed, and asks it what to try next.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A Gaussian process models the logarithm of the cost. Each proposal is the candidate whose cost would be least if the
/// model errs by two standard deviations in its favour, so that it looks where costs are low and where little is known.
std::unique_ptr<Search> surrogate_search(SearchSetup setup);

}  // namespace smemtune
