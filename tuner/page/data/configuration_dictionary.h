// Encodes the configurations of one template as short text.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "templates/space/configuration.h"

namespace smemtune {

/// Gives each distinct configuration of a template a number, and writes configurations as short text. The text has one
/// base-64 index for each parameter. The index points into the list of the parameter's values that occur. All indices
/// have as many digits as the longest list needs.
class ConfigurationDictionary {
public:
    /// Returns the number of a configuration. Numbers start at 0 and follow the order of first use.
    std::size_t number_of(const Configuration& configuration);

    /// Returns `{"parameters": [{"name", "values"}], "width", "text"}`. `values` contains null if some configuration
    /// lacks the parameter.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    std::map<Configuration, std::size_t> numbers_;
    std::vector<const Configuration*> ordered_;  // the keys of numbers_, in the order of their numbers
};

}  // namespace smemtune
