// Simulated annealing.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to neighbours, mostly adjacent ones. A cost that is worse by a factor f is accepted with probability
/// f^(-1/temperature). Cools slowly; reheats at the best point when no move has been accepted for long.
std::unique_ptr<Search> annealing_search(SearchSetup setup);

}  // namespace smemtune
