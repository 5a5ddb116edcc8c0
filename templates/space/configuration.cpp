#include "templates/space/configuration.h"

#include <charconv>
#include <stdexcept>

#include "templates/space/value.h"

namespace smemtune {

namespace {

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string to_text(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration.values) {
        if (!text.empty()) text += ',';
        text += name + '=' + value_text(value);
    }
    return text;
}

Configuration completed(Configuration configuration, const Configuration& defaults) {
    configuration.values.insert(defaults.values.begin(), defaults.values.end());
    return configuration;
}

Configuration differing(Configuration configuration, const Configuration& defaults) {
    std::erase_if(configuration.values, [&](const auto& value) {
        const auto found = defaults.values.find(value.first);
        return found != defaults.values.end() && found->second == value.second;
    });
    return configuration;
}

Configuration parse_configuration(std::string_view text) {
    Configuration result;
    while (!trim(text).empty()) {
        const auto comma = text.find(',');
        const auto item = trim(text.substr(0, comma));
        const auto equals = item.find('=');
        const auto name = trim(item.substr(0, equals));
        const auto digits = equals == std::string_view::npos ? "" : trim(item.substr(equals + 1));
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool is_whole = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
        if (name.empty() || (!is_whole && !is_value_text(digits))) {
            throw std::invalid_argument("configuration: '" + std::string(item) +
                                        "' is not NAME=VALUE; write for example TILE_WIDTH=16,PAD=1");
        }
        if (digits == "true" || digits == "false") {
            value = digits == "true" ? 1 : 0;
        } else if (!is_whole) {
            value = text_value(digits);
        }
        if (!result.values.emplace(name, value).second) {
            throw std::invalid_argument("configuration: '" + std::string(name) + "' is given twice");
        }
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return result;
}

}  // namespace smemtune
