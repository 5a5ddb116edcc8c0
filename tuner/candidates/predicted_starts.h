// Start points of a search, from the portfolios in db/portfolios, which are part of the program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "templates/space/configuration.h"
#include "tuner/tuning/plan.h"

namespace smemtune {

/// Returns start points by template name: at most three members of a portfolio for each template, the fastest first
/// according to the portfolio's time models. Members that are predicted to be slower than the fastest by more than the
/// factor pruning::slow_template are left out. The portfolio is for the operation of `problem`, elements of the same
/// size and the same compute capability; preferably also for the same layout, then for the same type, then for a similar
/// device. Empty if there is no such portfolio.
std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates);

}  // namespace smemtune
