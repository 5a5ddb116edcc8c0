// Simulated annealing.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Steps to neighbours, adjacent ones mostly, and accepts a cost that is worse by a factor f with probability
/// f^(-1/temperature). It cools slowly and is heated again, at the best point, when nothing has been accepted for long.
std::unique_ptr<Search> annealing_search(SearchSetup setup);

}  // namespace smemtune
