// The valid neighbours of a point.
#pragma once

#include <random>
#include <vector>

#include "templates/space/parameter_space.h"

namespace smemtune {

/// The valid points that differ from this one in exactly one parameter, ordered by parameter, then by value.
std::vector<std::size_t> neighbours(const ParameterSpace& space, std::size_t index);

/// The neighbours whose differing parameter has the next higher or lower value, in the order of its values.
std::vector<std::size_t> adjacent_neighbours(const ParameterSpace& space, std::size_t index);

/// This point with `changes` parameters drawn at random, or fewer if fewer have a choice; nothing if the result is not
/// valid.
std::optional<std::size_t> changed(const ParameterSpace& space, std::size_t index, std::size_t changes,
                                   std::mt19937_64& random);

}  // namespace smemtune
