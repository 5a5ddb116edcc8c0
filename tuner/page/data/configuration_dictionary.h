// The configurations of one template as short text.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "templates/space/configuration.h"

namespace smemtune {

/// Numbers each distinct configuration. In the JSON, a configuration is one number in base 64 for each parameter: the
/// index of its value among the values that occur. All these numbers have the same width, enough for the parameter with
/// the most values.
class ConfigurationDictionary {
public:
    /// The number of the configuration, from 0 in the order of their first use.
    std::size_t number_of(const Configuration& configuration);

    /// `{"parameters": [{"name", "values"}], "width", "text"}`. A value is null where configurations lack the
    /// parameter.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    std::map<Configuration, std::size_t> numbers_;
    std::vector<const Configuration*> ordered_;  // keys of numbers_
};

}  // namespace smemtune
