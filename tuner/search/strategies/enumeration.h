// Searches that enumerate the space in a fixed order and ignore observations.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// All configurations: first the start points, then the others in the order of the space.
std::unique_ptr<Search> exhaustive_search(const SearchSetup& setup);

/// All configurations: first the start points, then the others in an order drawn from the seed.
std::unique_ptr<Search> random_search(const SearchSetup& setup);

}  // namespace smemtune
