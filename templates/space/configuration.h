// One value for each parameter of a template: what a trial tries.
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

/// With the default values of the parameters that it does not name.
Configuration completed(Configuration configuration, const Configuration& defaults);

/// The values that differ from `defaults`: completed() with the same defaults gives the configuration back.
Configuration differing(Configuration configuration, const Configuration& defaults);

/// Reads what to_text writes, in any order and with spaces. Throws std::invalid_argument naming what does not fit.
Configuration parse_configuration(std::string_view text);

}  // namespace smemtune
