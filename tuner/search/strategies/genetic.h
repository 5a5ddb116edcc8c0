// A genetic algorithm with a steady-state population.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// The population consists of the best points found so far. A child takes each parameter's value from one of two
/// parents. Each parent is the best of a few members of the population that are drawn at random. A child mutates in one
/// parameter with a probability of one half. A child that is invalid or was tried before is drawn again.
std::unique_ptr<Search> genetic_search(SearchSetup setup);

}  // namespace smemtune
