// Searches that enumerate the space in an order fixed beforehand, whatever they observe.
#pragma once

#include "tuner/search/search.h"

namespace smemtune {

/// Every configuration, in the order of the space, after the starts.
std::unique_ptr<Search> exhaustive_search(const SearchSetup& setup);

/// Every configuration, in an order drawn from the seed, after the starts.
std::unique_ptr<Search> random_search(const SearchSetup& setup);

}  // namespace smemtune
