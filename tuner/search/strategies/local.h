// Greedy iterated local search: downhill over neighbours; a perturbation of the best point; downhill again.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to the first neighbour that costs less. If none does, draws some parameters of the best point anew, and one
/// more of them after every few perturbations without a new best.
std::unique_ptr<Search> local_search(SearchSetup setup);

}  // namespace smemtune
