// Checks how well a portfolio and its models serve problems that were left out.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// The loss of each rule against the best time known at a problem that was left out. Nothing if the rule has no
/// configuration that runs there.
struct LeftOut {
    std::size_t problem = 0;
    std::optional<double> predicted;    ///< the member with the shortest predicted time times 1 + error
    std::optional<double> best_member;  ///< the member that is the fastest
    std::optional<double> nearest;      ///< the winner of the nearest problem where it runs
    std::optional<double> one_for_all;  ///< the first member
    /// As `predicted`, with the given members instead of members that were chosen without the problem. Includes the
    /// loss of the best of these members.
    std::optional<double> same_members;
};

/// Splits the problems into `folds` parts. For each part, chooses a portfolio of `size` and fits its models, without
/// the part's problems and without configurations that won only there. Then serves the part's problems from that
/// portfolio. For `same_members`, uses `members` for every part, and fits only their models.
std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size,
                                    const std::vector<std::size_t>& members = {}, std::size_t folds = 5);

}  // namespace smemtune
