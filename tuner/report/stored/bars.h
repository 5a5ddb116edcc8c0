// Plots of one line in Unicode's block elements.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smemtune {

/// A bar for `share` of `width` columns, to an eighth of a column: `███▌`. Shares beyond 0..1 are cut.
std::string bar(double share, std::size_t width);

/// A column for each value in 0..1, in eight heights: `▁▃▇█`. 0 is a space.
std::string sparkline(std::span<const double> values);

}  // namespace smemtune
