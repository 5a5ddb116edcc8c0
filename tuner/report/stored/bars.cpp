#include "tuner/report/stored/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace smemtune {

namespace {

constexpr std::size_t eighths = 8;
constexpr std::array<const char*, eighths + 1> partial_blocks{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<const char*, eighths + 1> heights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::size_t to_count(double value) { return static_cast<std::size_t>(std::lround(value)); }

}  // namespace

std::string bar(double share, std::size_t width) {
    const auto filled = to_count(std::clamp(share, 0.0, 1.0) * static_cast<double>(width * eighths));
    std::string text;
    for (std::size_t i = 0; i < filled / eighths; ++i) text += partial_blocks.back();
    return text + partial_blocks.at(filled % eighths);
}

std::string sparkline(std::span<const double> values) {
    std::string text;
    for (const auto value : values) text += heights.at(to_count(std::clamp(value, 0.0, 1.0) * eighths));
    return text;
}

}  // namespace smemtune
