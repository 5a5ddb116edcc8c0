// Problem sizes as people write them: `512..8192`, `512..8192:512`, `1000,4095`, `4096x11008x128`, mixed with commas.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace smemtune {

/// Each size has one value for each of `dimensions` extents; a single number stands for all of them. In the order
/// written, none twice. Throws std::invalid_argument naming the part that does not fit, and an example that does.
std::vector<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::size_t dimensions);

}  // namespace smemtune
