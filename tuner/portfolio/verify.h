// Verifies members for each class of problems.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tuner/portfolio/measure.h"

namespace smemtune {

/// Verifies each of `members` (indices of entries) once for each class of problems (problem_class), at the problem that
/// class_problem() finds for this class. Returns for each member the classes for which its machine code passed every
/// check. A member that was wrong at any problem has no classes. The problems at which the most members are verified
/// come first, because the verification ends early if MeasureContext::is_over().
std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress);

}  // namespace smemtune
