// Searches that enumerate the space in a fixed order and ignore observations.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Proposes the start points first, then all other configurations in the order of the space.
std::unique_ptr<Search> exhaustive_search(const SearchSetup& setup);

/// Proposes the start points first, then all other configurations in an order drawn from the seed.
std::unique_ptr<Search> random_search(const SearchSetup& setup);

}  // namespace smemtune
