// Simulated annealing.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Proposes neighbours of the current point, mostly those with an adjacent value, and moves to those that cost less. A
/// neighbour that costs f times as much is accepted with probability f^(-1/temperature). The temperature falls slowly.
/// After a long time without an accepted move, it rises again and the search returns to the best point.
std::unique_ptr<Search> annealing_search(SearchSetup setup);

}  // namespace smemtune
