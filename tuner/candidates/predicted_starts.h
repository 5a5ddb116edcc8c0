// Start points of a search, and candidates for a new portfolio, from the portfolios in db/portfolios. The program
// contains the text of these portfolios.
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
/// same operation, element size and compute capability, and has a member of one of `templates`. Among the portfolios
/// that fit, prefers those of the problem's layout, then those of its type, then the one with the most similar device.
const PortfolioText* most_similar(std::span<const PortfolioText> portfolios, const Problem& problem,
                                  const Device& device, const std::set<std::string>& templates);

/// Returns start points by template name. They are members of a portfolio, at most three for each template, the
/// shortest predicted time first. Leaves out members whose predicted time is more than pruning::slow_template times
/// the shortest predicted time. most_similar() chooses the portfolio among those that the program contains. The
/// result is empty if no portfolio fits.
std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates);

/// A configuration, and the problems at which it may be the fastest. For example, it is a member of a shipped
/// portfolio, which predicts that this member is its fastest one there.
struct Transferred {
    const KernelTemplate* kernel = nullptr;  ///< one of the templates that predicted_fastest() got
    Configuration configuration;             ///< has a value for each parameter of the template
    std::vector<std::size_t> problems;       ///< the indices of these problems, in ascending order
};

/// Returns the members that are predicted to be the fastest of their portfolio at one or more of `problems`. All
/// problems must have the same operation, type and layout. The member with the most such problems comes first. Uses
/// the portfolios that the program contains for the same operation, element size and compute capability, for any type
/// and layout. A member that several portfolios have is returned once. Leaves out members with parameters or values
/// that their template in `templates` does not have.
std::vector<Transferred> predicted_fastest(std::span<const Problem> problems, const Device& device,
                                           std::span<const KernelTemplate> templates);

}  // namespace smemtune
