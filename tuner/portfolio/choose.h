// Chooses the members of a portfolio.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/portfolio/cross_times.h"

namespace smemtune {

/// A problem where no member runs counts as this many times the best time.
inline constexpr double unserved_factor = 10;

/// Up to `size` of the `candidates` (configurations), chosen one after another: each lowers the mean loss over
/// `problems`, weighted by their counts, the most. Ends early if no other one lowers it. Ties go to the first.
std::vector<std::size_t> choose_members(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                        const std::vector<std::size_t>& candidates, std::size_t size);

}  // namespace smemtune
