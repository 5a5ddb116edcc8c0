// Start points of a search, from the portfolios in db/portfolios. The program contains the text of these portfolios.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/portfolio/portfolio_text.h"
#include "templates/space/configuration.h"
#include "tuner/tuning/plan.h"

namespace smemtune {

/// Returns the portfolio that fits `problem` and `device` best, or null if none fits. A portfolio fits if it is for the
/// same operation, element size and compute capability, and has a member of one of `templates`. Among those that fit,
/// one of the problem's layout is preferred, then one of the problem's type, then the one of the most similar device.
const PortfolioText* most_similar(std::span<const PortfolioText> portfolios, const Problem& problem,
                                  const Device& device, const std::set<std::string>& templates);

/// Returns start points by template name: at most three members of a portfolio for each template, the fastest first
/// according to the portfolio's time models. Leaves out members whose predicted time is more than
/// pruning::slow_template times the shortest predicted time. The portfolio is the most_similar() one of those that the
/// program contains. The result is empty if none of them fits.
std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates);

}  // namespace smemtune
