// Simulated annealing.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Proposes points that differ from the current point in one parameter, mostly points with an adjacent value of this
/// parameter. If no such point is untried, changes more parameters. Moves to a proposed point if it costs less. If it
/// costs f times as much as the current point, moves with probability f^(-1/temperature). The temperature falls slowly.
/// After many proposals in a row without a move, the temperature rises again, and the search returns to the best point.
std::unique_ptr<Search> annealing_search(SearchSetup setup);

}  // namespace smemtune
