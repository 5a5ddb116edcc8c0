// A genetic algorithm with a steady population.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A child takes each parameter from one of two parents, each the winner of a small tournament, and half of the
/// children mutate in one parameter. Invalid children are drawn again. The best found so far are the population.
std::unique_ptr<Search> genetic_search(SearchSetup setup);

}  // namespace smemtune
