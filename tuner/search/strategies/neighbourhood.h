// Finds the valid neighbours of a point in a space.
#pragma once

#include <random>
#include <vector>

#include "templates/space/parameter_space.h"

namespace smemtune {

/// Returns the valid points that differ from point `index` in exactly one parameter, ordered by parameter, then by
/// value. If a parameter has many values, most of the distant values are left out.
std::vector<std::size_t> neighbours(const ParameterSpace& space, std::size_t index);

/// Returns the neighbours of point `index` in which the changed parameter has the previous or the next value of
/// Parameter::values.
std::vector<std::size_t> adjacent_neighbours(const ParameterSpace& space, std::size_t index);

/// Returns point `index` with random new values for `changes` randomly drawn parameters. If fewer parameters have
/// several values, changes only those. Returns nothing if the result is not valid.
std::optional<std::size_t> changed(const ParameterSpace& space, std::size_t index, std::size_t changes,
                                   std::mt19937_64& random);

}  // namespace smemtune
