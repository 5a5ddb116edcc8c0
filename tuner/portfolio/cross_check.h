// Checks how well a portfolio and its models serve problems that were left out.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/portfolio/cross_times.h"

namespace smemtune {

/// What each rule loses at a problem that was left out, against the best time known there. Nothing: the rule has no
/// configuration that runs there.
struct LeftOut {
    std::size_t problem = 0;
    std::optional<double> predicted;    ///< the member with the shortest predicted time times 1 + error
    std::optional<double> best_member;  ///< the member that is the fastest
    std::optional<double> nearest;      ///< the winner of the nearest problem where it runs
    std::optional<double> one_for_all;  ///< the first member
};

/// Splits the problems into `folds` parts. For each part, chooses a portfolio of `size` and fits its models without the
/// part's problems and without configurations that won there alone, and serves the part's problems.
std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size, std::size_t folds = 5);

}  // namespace smemtune
