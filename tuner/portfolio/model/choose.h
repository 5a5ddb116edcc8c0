// Chooses the members of a portfolio.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// At a problem where no member runs, choose_members() assumes a time that is this many times the best time.
inline constexpr double unserved_factor = 10;

/// Chooses up to `size` of the `candidates` (configurations), one after another. Each step takes the candidate that
/// most lowers the mean loss over `problems`, weighted by their counts. Ties go to the first candidate. Ends early if
/// no candidate lowers the loss.
std::vector<std::size_t> choose_members(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                        const std::vector<std::size_t>& candidates, std::size_t size);

/// Returns for each problem the configurations to time there first. Each configuration is timed at `count` of
/// `problems`: at those nearest to the problems where it was found, or at the first ones if it was found nowhere.
/// Problems where the configuration is not valid do not count. For each problem, the configurations that were found
/// nearest to it come first.
std::vector<std::vector<std::size_t>> pairs_nearby(const CrossTimes& times, std::span<const std::size_t> problems,
                                                   std::size_t count);

/// Returns for each of `problems` the candidates with the shortest predicted times there, the shortest first. These
/// are at most `count` candidates, and none whose prediction is more than `factor` times the shortest one. The models
/// are fitted to all times. Candidates without any time, such as wrong ones, are left out.
std::vector<std::vector<std::size_t>> pairs_predicted(const CrossTimes& times, std::span<const std::size_t> problems,
                                                      const std::vector<std::size_t>& candidates, std::size_t count,
                                                      double factor);

}  // namespace smemtune
