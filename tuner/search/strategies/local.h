// Greedy iterated local search: descend over neighbours, perturb the best point, descend again.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to the first neighbour that costs less. If no neighbour costs less, perturbs the best point: changes some of
/// its parameters at random. After every few perturbations without a new best point, the least number of parameters
/// that a perturbation changes grows by one. A new best point resets this number.
std::unique_ptr<Search> local_search(SearchSetup setup);

}  // namespace smemtune
