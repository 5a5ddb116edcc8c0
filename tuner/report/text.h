// Formats lists, units, configurations and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "templates/space/configuration.h"

namespace smemtune {

/// Splits a list at `separator`. Leaves out empty parts.
std::vector<std::string> split(const std::string& text, char separator);

/// Wraps text to `width` characters; 0 means one line. Lines break at spaces and after commas, or within a word that is
/// longer than a line. The first line is indented by `first` spaces, the others by `rest`.
std::string folded(const std::string& text, std::size_t width, std::size_t first = 0, std::size_t rest = 0);

/// The parameters that differ from the template's defaults: `TILE_WIDTH=32,PAD=1`; `default` if none do.
std::string differences_text(const Configuration& configuration, const Configuration& defaults);

/// Formats JSON with indentation. Bytes that are not UTF-8, such as in a compiler's message, are replaced.
std::string json_text(const nlohmann::json& value);

/// Formats a time: `812 us`, `3.21 ms`.
std::string time_text(double microseconds);

/// Formats a duration: `42 s`, `3:05 min`, `1:02:33 h`.
std::string duration_text(double seconds);

/// Formats a rate without its unit: `24.90 T`, `1.60 G`.
std::string rate_text(double operations_per_second);

/// Formats a number: `1,412,312`.
std::string count_text(std::uint64_t count);

/// Formats a number of things: `1 size`, `3 sizes`.
std::string counted(std::uint64_t count, const std::string& thing);

}  // namespace smemtune
