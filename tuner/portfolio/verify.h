// Verifies members for each class of problems.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tuner/portfolio/measure.h"

namespace smemtune {

/// Verifies each of `members` (indices of entries) at class_problem() of every class (problem_class). Returns for each
/// member the classes for which its machine code passed every check. A member that was wrong at any problem has no
/// classes. The problems at which the most members are verified come first, in case time runs out.
std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress);

}  // namespace smemtune
