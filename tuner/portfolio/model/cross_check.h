// Estimates the loss of a portfolio at problems from which it was not built.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

/// The losses of several rules at a problem that was left out when the portfolio was built. Each rule chooses a
/// configuration. The loss is the time of this configuration divided by the best time known at the problem, minus 1.
/// A loss is absent if the rule finds no configuration that runs.
struct LeftOut {
    std::size_t problem = 0;
    std::optional<double> predicted;    ///< loss of the member that a fetch would choose by the predicted times
    std::optional<double> best_member;  ///< loss of the fastest member at this problem
    /// Loss of the winner of the nearest problem. Problems whose winner does not run at this problem are skipped.
    std::optional<double> nearest;
    std::optional<double> one_for_all;  ///< loss of the member that was chosen first for the portfolio
    /// Like `predicted`, but chosen from the `members` that check_left_out() was given.
    std::optional<double> same_members;
};

/// Splits the problems into `folds` parts. For each part, builds a portfolio of at most `size` members from the other
/// parts. Configurations that were found only in this part are left out. Returns the losses of this portfolio at
/// the problems of the part. LeftOut::same_members is the loss of another portfolio, whose members are `members` for
/// every part. Only the time models of these members are fitted to the other parts.
std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size,
                                    const std::vector<std::size_t>& members = {}, std::size_t folds = 5);

}  // namespace smemtune
