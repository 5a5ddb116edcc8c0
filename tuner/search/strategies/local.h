// Greedy iterated local search: descend over neighbours, perturb the best point, descend again.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to the first neighbour that costs less. If there is none, it changes some parameters of the best point at
/// random. After every few perturbations without a new best, it changes one more.
std::unique_ptr<Search> local_search(SearchSetup setup);

}  // namespace smemtune
