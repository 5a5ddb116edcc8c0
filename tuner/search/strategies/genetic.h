// A genetic algorithm with a steady-state population.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A child takes each parameter from one of two parents; each parent is the winner of a small tournament. Half of the
/// children mutate in one parameter. Invalid children are drawn again. The population is the best points found so far.
std::unique_ptr<Search> genetic_search(SearchSetup setup);

}  // namespace smemtune
