// Verifies members for each class of problems.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tuner/portfolio/measure.h"

namespace smemtune {

/// For each of `members` (entries), the classes (problem_class) for which its machine code passed every check at
/// class_problem(). A member that was wrong anywhere has no classes. Problems that verify the most members come first,
/// in case time runs out.
std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress);

}  // namespace smemtune
