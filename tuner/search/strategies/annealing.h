// Simulated annealing.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to neighbours, mostly adjacent ones. A cost that is higher by a factor f is accepted with probability
/// f^(-1/temperature). The temperature falls slowly. After a long time without an accepted move, it rises again and the
/// search returns to the best point.
std::unique_ptr<Search> annealing_search(SearchSetup setup);

}  // namespace smemtune
