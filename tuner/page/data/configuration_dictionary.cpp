#include "tuner/page/data/configuration_dictionary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

namespace smemtune {

namespace {

constexpr std::string_view numerals = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Value = std::optional<std::int64_t>;

}  // namespace

std::size_t ConfigurationDictionary::number_of(const Configuration& configuration) {
    const auto [place, added] = numbers_.try_emplace(configuration, ordered_.size());
    if (added) ordered_.push_back(&place->first);
    return place->second;
}

nlohmann::json ConfigurationDictionary::to_json() const {
    std::set<std::string> names;
    for (const auto* configuration : ordered_) {
        for (const auto& [name, value] : configuration->values) names.insert(name);
    }
    // `names` and the parameters of a configuration are both sorted by name, so one pass over both is enough.
    const auto for_each_value = [&](const Configuration& configuration, const auto& use) {
        auto parameter = configuration.values.begin();
        std::size_t column = 0;
        for (const auto& name : names) {
            const bool has = parameter != configuration.values.end() && parameter->first == name;
            use(column++, has ? Value((parameter++)->second) : Value());
        }
    };
    std::vector<std::set<Value>> found(names.size());
    for (const auto* configuration : ordered_) {
        for_each_value(*configuration, [&](std::size_t column, const Value& value) { found[column].insert(value); });
    }
    auto parameters = nlohmann::json::array();
    std::vector<std::vector<Value>> values;
    std::size_t width = 1;
    for (const auto& name : names) {
        const auto& of_name = values.emplace_back(found[values.size()].begin(), found[values.size()].end());
        auto list = nlohmann::json::array();
        for (const auto& value : of_name) list.push_back(value ? nlohmann::json(*value) : nlohmann::json());
        for (auto most = list.size(), length = std::size_t{1}; most > numerals.size(); most /= numerals.size()) {
            width = std::max(width, ++length);
        }
        parameters.push_back({{"name", name}, {"values", std::move(list)}});
    }
    std::string text;
    text.reserve(ordered_.size() * names.size() * width);
    for (const auto* configuration : ordered_) {
        for_each_value(*configuration, [&](std::size_t column, const Value& value) {
            auto number =
                static_cast<std::size_t>(std::ranges::lower_bound(values[column], value) - values[column].begin());
            const auto begin = text.size();
            text.append(width, numerals.front());
            for (auto place = begin + width; number > 0; number /= numerals.size()) {
                text[--place] = numerals[number % numerals.size()];
            }
        });
    }
    return {{"parameters", std::move(parameters)}, {"width", width}, {"text", std::move(text)}};
}

}  // namespace smemtune
