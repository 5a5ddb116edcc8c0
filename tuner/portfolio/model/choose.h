// Chooses the members of a portfolio.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// A problem where no member runs counts as this many times the best time.
inline constexpr double unserved_factor = 10;

/// Chooses up to `size` of the `candidates` (configurations) one after another. Each step takes the candidate that
/// lowers the mean loss over `problems`, weighted by their counts, the most; ties go to the first. Ends early if no
/// candidate lowers it.
std::vector<std::size_t> choose_members(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                        const std::vector<std::size_t>& candidates, std::size_t size);

/// The first pairs to time: for each problem, its configurations, nearest first. Each configuration is timed at the
/// `count` valid problems that are nearest to the problems where it was found.
std::vector<std::vector<std::size_t>> pairs_nearby(const CrossTimes& times, std::size_t count);

}  // namespace smemtune
