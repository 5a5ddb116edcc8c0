#include "templates/source/parameter_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <regex>
#include <set>

#include "templates/space/value.h"

namespace smemtune {

namespace {

constexpr std::size_t most_values = 65'535;  // ParameterSpace stores 16-bit indices of values

std::int64_t whole_number(const Section& section, const std::string& key, const std::string& digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || !is_int(value)) {
        section.fail_at(key, "'" + key + "' holds " + digits + ", which is no C++ int");
    }
    return value;
}

// If `text` is a range, appends its values to `values` and returns true.
bool add_range(const Section& section, const std::string& text, std::vector<std::int64_t>& values) {
    static const std::regex range(R"((-?[0-9]+)\.\.(-?[0-9]+)(?::(\*?)([0-9]+))?)");
    std::smatch match;
    if (!std::regex_match(text, match, range)) {
        if (text.find("..") == std::string::npos) return false;
        section.fail_at("values",
                        "'values' holds '" + text + R"(', which is no range; write "1..16", "0..64:8" or "1..64:*2")");
    }
    const auto first = whole_number(section, "values", match[1]);
    const auto last = whole_number(section, "values", match[2]);
    const auto step = match[4].matched ? whole_number(section, "values", match[4]) : 1;
    const bool multiply = match[3].length() > 0;
    if (last < first) {
        section.fail_at("values", "'values' holds '" + text + "': the range runs backwards; write " +
                                      std::to_string(last) + ".." + std::to_string(first));
    }
    if (step < (multiply ? 2 : 1) || (multiply && first < 1)) {
        section.fail_at("values", "'values' holds '" + text + "': the range never ends; use a step above " +
                                      (multiply ? "1, and begin above 0" : "0"));
    }
    for (auto value = first; value <= last; value = multiply ? value * step : value + step) {
        if (values.size() == most_values) {
            section.fail_at("values", "'values' holds '" + text + "', which has more than " +
                                          std::to_string(most_values) + " values; use a larger step");
        }
        values.push_back(value);
    }
    return true;
}

std::string number_text(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    std::string result(text.data(), end);
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result;
}

// Reads a single value. true is 1 and false is 0.
std::int64_t value_of(const Section& section, const std::string& key, const toml::node& node) {
    if (const auto whole = node.value_exact<std::int64_t>()) {
        return whole_number(section, key, std::to_string(*whole));
    }
    if (const auto boolean = node.value_exact<bool>()) return *boolean ? 1 : 0;
    std::string text;
    if (const auto number = node.value_exact<double>()) {
        if (!std::isfinite(*number))
            section.fail_at(key, "'" + key + "' holds a number that is not finite; take it out");
        text = number_text(*number);
    } else if (const auto written = node.value_exact<std::string>()) {
        text = *written;
    } else {
        section.fail_at(key, "'" + key + "' holds neither a number nor true, false or a text; write for example " +
                                 R"([8, 16, 32] or ["float", "float4"])");
    }
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (text == "true" || text == "false" || (!text.empty() && std::ranges::all_of(text, is_digit))) {
        section.fail_at(key, "'" + key + "' holds \"" + text + "\" in quotes; write " + text + " without them");
    }
    if (!is_value_text(text)) {
        section.fail_at(key, "'" + key + "' holds '" + text +
                                 "'; a text begins with a letter and has no commas, '=', quotes, backslashes and "
                                 "comments: give other types a name with 'using' in the source, and write the name");
    }
    return text_value(text);
}

}  // namespace

std::vector<std::int64_t> parameter_values(const Section& section) {
    const auto& node = section.node("values", "[8, 16, 32]");
    std::vector<std::int64_t> values;
    const auto add = [&](const toml::node& each) {
        const auto text = each.value_exact<std::string>();
        if (!text || !add_range(section, *text, values)) values.push_back(value_of(section, "values", each));
    };
    if (const auto* array = node.as_array()) {
        for (const auto& each : *array) add(each);
    } else if (const auto text = node.value_exact<std::string>(); text && text->find("..") != std::string::npos) {
        add(node);
    }
    if (values.empty()) {
        section.fail_at("values",
                        "'values' must be a list or a range; write for example values = [8, 16, 32] or "
                        "values = \"1..16\"");
    }
    if (values.size() > most_values) {
        section.fail_at("values", "'values' holds " + std::to_string(values.size()) + " values, more than " +
                                      std::to_string(most_values) + "; take some out");
    }
    std::set<std::int64_t> before;
    for (const auto value : values) {
        if (before.insert(value).second) continue;
        section.fail_at("values", "'values' holds " + value_text(value) + " twice");
    }
    return values;
}

std::int64_t parameter_default(const Section& section, const std::vector<std::int64_t>& values) {
    const auto value = value_of(section, "default", section.node("default", "16"));
    if (std::ranges::count(values, value) == 0) {
        section.fail_at("default", "'default' " + value_text(value) + " is not among 'values'");
    }
    return value;
}

}  // namespace smemtune
