// A configuration: one value for each parameter of a template.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace smemtune {

struct Configuration {
    std::map<std::string, std::int64_t, std::less<>> values;

    auto operator<=>(const Configuration&) const = default;
};

/// Returns the canonical text of a configuration, sorted by name: `TSZ_COLS=16,TSZ_ROWS=64`.
std::string to_text(const Configuration& configuration);

/// Returns the configuration with the default values of the parameters that it lacks.
Configuration completed(Configuration configuration, const Configuration& defaults);

/// Returns only the values that differ from `defaults`. completed() with the same defaults restores the configuration.
Configuration differing(Configuration configuration, const Configuration& defaults);

/// Parses the text of to_text(). The parameters may be in any order. Spaces may surround names, values and commas.
/// Throws std::invalid_argument that names the malformed part.
Configuration parse_configuration(std::string_view text);

}  // namespace smemtune
