// Encodes the configurations of one template as short text.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "templates/space/configuration.h"

namespace smemtune {

/// Numbers the distinct configurations of a template. In the JSON, a configuration is a text with one number in base 64
/// for each parameter: the index of the parameter's value among its values that occur. All numbers have the same width,
/// which is enough for the parameter with the most values.
class ConfigurationDictionary {
public:
    /// Returns the number of a configuration. Numbers start at 0 and follow the order of first use.
    std::size_t number_of(const Configuration& configuration);

    /// Returns `{"parameters": [{"name", "values"}], "width", "text"}`. One of a parameter's values is null if some
    /// configuration lacks the parameter.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    std::map<Configuration, std::size_t> numbers_;
    std::vector<const Configuration*> ordered_;  // the keys of numbers_, in the order of their numbers
};

}  // namespace smemtune
