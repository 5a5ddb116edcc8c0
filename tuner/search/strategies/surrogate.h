// Bayesian optimisation: fits a model of the cost to the observations and proposes the most promising point.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A Gaussian process models the logarithm of the cost. Each proposal minimises the lower confidence bound: the mean
/// minus two standard deviations. This bound is low where the model predicts low costs and where little is known.
std::unique_ptr<Search> surrogate_search(SearchSetup setup);

}  // namespace smemtune
