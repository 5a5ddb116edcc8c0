// Draws bars and curves in one line of text, with Unicode's block elements.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smemtune {

/// Draws a bar such as `███▌` over `share` of `width` columns, in steps of an eighth of a column. Clamps `share` to
/// 0..1.
std::string bar(double share, std::size_t width);

/// Draws one column for each value in 0..1, such as `▁▃▇█`. A column has one of eight heights; 0 is a space.
std::string sparkline(std::span<const double> values);

}  // namespace smemtune
