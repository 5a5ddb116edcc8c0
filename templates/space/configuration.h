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

/// The one canonical spelling: `TSZ_COLS=16,TSZ_ROWS=64`, sorted by name.
std::string to_text(const Configuration& configuration);

/// This configuration, completed with the default values of the parameters that it lacks.
Configuration completed(Configuration configuration, const Configuration& defaults);

/// The values that differ from `defaults`. completed() with the same defaults restores the configuration.
Configuration differing(Configuration configuration, const Configuration& defaults);

/// Reads the format of to_text, in any order and with spaces. Throws std::invalid_argument, which names the malformed
/// part.
Configuration parse_configuration(std::string_view text);

}  // namespace smemtune
