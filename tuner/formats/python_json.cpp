#include <array>

#include "tuner/formats/formats.h"
#include "tuner/replay/json_numbers.h"

namespace smemtune {

namespace {

constexpr std::array<std::string_view, 3> non_finite{"-Infinity", "Infinity", "NaN"};
// The beginning of the strings that python_parse() puts in place of the numbers in `non_finite`. Assumes that no string
// in a file begins with U+0001.
constexpr std::string_view marked = "\"\\u0001";

bool begins_with(const std::string& text, std::size_t at, std::string_view word) {
    return std::string_view(text).substr(at, word.size()) == word;
}

}  // namespace

Fields python_parse(const std::string& text) {
    std::string quoted;
    quoted.reserve(text.size());
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') in_string = !in_string;
        std::string_view found;
        for (const auto word : non_finite) {
            if (!in_string && found.empty() && begins_with(text, i, word)) found = word;
        }
        if (!found.empty()) {
            quoted.append(marked).append(found).append("\"");
            i += found.size() - 1;
            continue;
        }
        quoted += text[i];
        if (in_string && text[i] == '\\' && i + 1 < text.size()) quoted += text[++i];
    }
    check_numbers(quoted);
    return Fields::parse(quoted, nullptr, false);
}

std::string python_dump(const Fields& value) {
    const auto dumped = value.dump(-1, ' ', false, Fields::error_handler_t::replace);
    std::string text;
    text.reserve(dumped.size());
    for (std::size_t i = 0; i < dumped.size(); ++i) {
        if (!begins_with(dumped, i, marked)) {
            text += dumped[i];
            continue;
        }
        const auto end = dumped.find('"', i + 1);
        text += dumped.substr(i + marked.size(), end - i - marked.size());
        i = end;
    }
    return text;
}

}  // namespace smemtune
