// Greedy iterated local search: descend over neighbours, perturb the best point, descend again.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to the first neighbour that costs less. If no neighbour costs less, perturbs the best point: changes some of
/// its parameters at random. Whenever a few perturbations in a row find no new best point, the number of parameters
/// that a perturbation changes grows by one.
std::unique_ptr<Search> local_search(SearchSetup setup);

}  // namespace smemtune
