// Greedy iterated local search: downhill over neighbours, then a kick from the best point and downhill again.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Moves to the first neighbour that costs less. Where none does, some parameters of the best point are drawn anew,
/// more of them each time that this ends where it has been before.
std::unique_ptr<Search> local_search(SearchSetup setup);

}  // namespace smemtune
