// Start points of a search from the portfolios that are part of smemtune (db/portfolios).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "templates/space/configuration.h"
#include "tuner/tuning/plan.h"

namespace smemtune {

/// For each template's name, up to three members of the portfolio for `problem` that it predicts to be fastest, the
/// fastest first. The portfolio is that of the most similar device with this compute capability; without one, the
/// result is empty. Members that are predicted to be slower than a template may be (pruning::slow_template) are left
/// out.
std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates);

}  // namespace smemtune
