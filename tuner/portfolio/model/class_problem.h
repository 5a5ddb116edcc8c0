// Finds the problem at which a configuration is verified for a whole class of problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "templates/space/problem.h"

namespace smemtune {

constexpr std::size_t most_classified_extents = 8;  ///< 256 classes, each verified with every member

/// Throws std::invalid_argument if the operation has so many extents that its classes (problem_class) are too many to
/// verify: each further extent doubles their number.
void require_few_classes(const Operation& operation);

/// A problem of the class `wanted` (problem_class). Its extents have as few factors of two as the configuration allows,
/// so that no tile fits evenly and the guards at the edges are verified, too. It has the proportions of a sample, with
/// extents of at most about `limit`, but large enough for several tiles in each direction. The largest sample that
/// gives a valid problem is used. If there is none, the smallest sample with extents beyond `limit` is used. Nothing if
/// none is valid.
std::optional<Problem> class_problem(const std::vector<Problem>& samples, const std::string& wanted,
                                     std::int64_t element_bytes, std::int64_t limit,
                                     const std::function<bool(const Problem&)>& is_valid);

}  // namespace smemtune
