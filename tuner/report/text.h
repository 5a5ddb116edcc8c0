// Text for people and for programs: columns, units, JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace smemtune {

/// The parts of a list that are not empty.
std::vector<std::string> split(const std::string& text, char separator);

/// Aligned columns; the first row is the header. Numbers are given as text.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// Indented; what is no UTF-8, as a compiler's message may be, is replaced.
std::string json_text(const nlohmann::json& json);

/// `812 us`, `3.21 ms`.
std::string time_text(double microseconds);

/// `24.90 T`, `1.60 G`: operations per second.
std::string rate_text(double operations_per_second);

}  // namespace smemtune
