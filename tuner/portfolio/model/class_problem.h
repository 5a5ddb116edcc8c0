// Finds a problem that represents a class of problems. A configuration is verified at this problem for the whole class.
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

constexpr std::size_t most_classified_extents = 8;  ///< 8 extents have 256 classes; members are verified for each class

/// Throws std::invalid_argument if the operation has more than most_classified_extents extents. Each extent doubles the
/// number of classes (problem_class) to verify.
void require_few_classes(const Operation& operation);

/// Returns a valid problem of the class `wanted` (problem_class). Its extents have as few factors of two as
/// `is_valid` allows. Tiles then do not fit evenly, so the code for partial tiles at the edges is verified, too. The
/// problem resembles one of the samples. First, samples are tried with their extents cut to `limit`, from the largest
/// to the smallest. Then they are tried uncut, from the smallest to the largest. Returns nothing if no problem is
/// valid.
std::optional<Problem> class_problem(const std::vector<Problem>& samples, const std::string& wanted,
                                     std::int64_t element_bytes, std::int64_t limit,
                                     const std::function<bool(const Problem&)>& is_valid);

}  // namespace smemtune
