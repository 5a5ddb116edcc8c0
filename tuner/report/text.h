// Text for people and for programs: lists, units, configurations, JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "templates/space/configuration.h"

namespace smemtune {

/// The parts of a list that are not empty.
std::vector<std::string> split(const std::string& text, char separator);

/// Lines of at most `width` characters, broken at spaces and after commas, and within words that are longer. The first
/// is indented by `first` spaces, the others by `rest`. With a width of 0, one line.
std::string folded(const std::string& text, std::size_t width, std::size_t first = 0, std::size_t rest = 0);

/// The parameters whose values are not the template's defaults, `TILE_WIDTH=32,PAD=1`; `default` where there are none.
std::string differences_text(const Configuration& configuration, const Configuration& defaults);

/// Indented; bytes that are no UTF-8, as a compiler's message may have, are replaced.
std::string json_text(const nlohmann::json& json);

/// `812 us`, `3.21 ms`.
std::string time_text(double microseconds);

/// `42 s`, `3:05 min`, `1:02:33 h`.
std::string duration_text(double seconds);

/// `24.90 T`, `1.60 G`: operations per second.
std::string rate_text(double operations_per_second);

/// `1,412,312`.
std::string count_text(std::uint64_t count);

/// `1 size`, `3 sizes`.
std::string counted(std::uint64_t count, const std::string& thing);

}  // namespace smemtune
