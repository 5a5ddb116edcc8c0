// A genetic algorithm with a steady population.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// A child takes each parameter from one of two parents, the better of a few drawn, and sometimes one anew; what is not
/// valid is never born. The best found so far make up the population.
std::unique_ptr<Search> genetic_search(SearchSetup setup);

}  // namespace smemtune
