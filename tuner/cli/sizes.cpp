#include "tuner/cli/sizes.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string>

namespace smemtune {

namespace {

constexpr std::int64_t largest = 2147483647;  // the largest extent, because kernels take extents as int
constexpr std::size_t most_sizes = 100'000;

[[noreturn]] void fail(std::string_view part, const std::string& why, const std::string& product = "4096x11008x128") {
    throw std::invalid_argument("--sizes '" + std::string(part) + "': " + why +
                                "; write for example 512..8192, 512..8192:512, 1000,4095 or " + product);
}

// Throws if `part`, an entry of the list `text`, is empty.
void check_entry(std::string_view part, std::string_view text) {
    if (part.empty()) fail(text.substr(0, 80), "an entry of the list is empty");
}

[[noreturn]] void fail_count(std::string_view part) {
    fail(part.substr(0, 80), "names more than " + std::to_string(most_sizes) + " sizes");
}

std::int64_t number(std::string_view digits, std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
        fail(part, "'" + std::string(digits) + "' is not a whole number");
    }
    if (error != std::errc{} || value < 1 || value > largest) {
        fail(part, std::string(digits) + " is not in 1.." + std::to_string(largest));
    }
    return value;
}

std::vector<std::int64_t> range(std::string_view part, std::size_t dots) {
    const auto colon = part.find(':', dots);
    const auto first = number(part.substr(0, dots), part);
    const auto last = number(part.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2), part);
    const auto step = colon == std::string_view::npos ? 0 : number(part.substr(colon + 1), part);
    if (first > last) {
        throw std::invalid_argument("--sizes " + std::string(part) + ": the range runs backwards; write " +
                                    std::to_string(last) + ".." + std::to_string(first) +
                                    (step == 0 ? "" : ":" + std::to_string(step)));
    }
    std::vector<std::int64_t> values;
    for (auto value = first; value <= last; value = step == 0 ? value * 2 : value + step) {
        if (values.size() == most_sizes) fail_count(part);
        values.push_back(value);
    }
    return values;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& word : parts) text += (text.empty() ? "" : "x") + word;
    return text;
}

// The size whose extents are `edge`. Extents that count matrices, such as BATCH, are `count` instead.
std::vector<std::int64_t> cube(std::int64_t edge, const SizeForm& form, std::int64_t count = 1) {
    std::vector<std::int64_t> extents;
    for (const auto& name : form.names) extents.push_back(form.counts.contains(name) ? count : edge);
    return extents;
}

std::vector<std::string> words(const std::vector<std::int64_t>& extents) {
    std::vector<std::string> result;
    result.reserve(extents.size());
    for (const auto extent : extents) result.push_back(std::to_string(extent));
    return result;
}

std::vector<std::int64_t> product(std::string_view part, const SizeForm& form) {
    std::vector<std::int64_t> extents;
    for (std::size_t begin = 0; begin <= part.size();) {
        const auto end = std::min(part.find('x', begin), part.size());
        extents.push_back(number(part.substr(begin, end - begin), part));
        begin = end + 1;
    }
    if (extents.size() != form.names.size()) {
        fail(part,
             "has " + std::to_string(extents.size()) + " extents where " + std::to_string(form.names.size()) +
                 " are needed, " + joined(form.names),
             joined(words(cube(512, form, 16))));
    }
    return extents;
}

}  // namespace

SizeForm size_form(const Operation& operation) {
    SizeForm form{.names = operation.extents};
    for (const auto& argument : operation.arguments) {
        form.counts.insert(argument.count.names().begin(), argument.count.names().end());
    }
    return form;
}

std::vector<std::vector<std::int64_t>> parse_sizes(std::string_view text, const SizeForm& form) {
    std::vector<std::vector<std::int64_t>> sizes;
    std::set<std::vector<std::int64_t>> known;
    const auto add = [&](std::vector<std::int64_t> size) {
        if (!known.insert(size).second) return;
        if (sizes.size() == most_sizes) fail_count(text);
        sizes.push_back(std::move(size));
    };
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto part = text.substr(begin, end - begin);
        check_entry(part, text);
        if (const auto dots = part.find(".."); dots != std::string_view::npos) {
            for (const auto value : range(part, dots)) add(cube(value, form));
        } else if (part.find('x') != std::string_view::npos) {
            add(product(part, form));
        } else {
            add(cube(number(part, part), form));
        }
        begin = end + 1;
    }
    return sizes;
}

std::vector<std::string> stored_sizes(std::string_view text, const std::vector<SizeForm>& forms) {
    std::vector<std::string> patterns;
    for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto part = text.substr(begin, end - begin);
        begin = end + 1;
        check_entry(part, text);
        if (part.find_first_of("x*") != std::string_view::npos) {
            patterns.emplace_back(part);
            continue;
        }
        const auto dots = part.find("..");
        const auto edges = dots == std::string_view::npos ? std::vector{number(part, part)} : range(part, dots);
        if (patterns.size() + edges.size() * forms.size() > most_sizes) fail_count(part);
        for (const auto edge : edges) {
            for (const auto& form : forms) patterns.push_back(joined(words(cube(edge, form))));
        }
    }
    return patterns;
}

std::string automatic_sizes(const SizeForm& form, bool host) {
    if (form.counts.empty()) return host ? "64..256" : "512..8192";
    // A batched operation gets batches of several matrices, because a single small matrix is too little work for a
    // device.
    std::string text;
    for (const std::int64_t edge : host ? std::vector{32, 64} : std::vector{64, 128, 256, 512}) {
        text += (text.empty() ? "" : ",") + joined(words(cube(edge, form, host ? 4 : 64)));
    }
    return text;
}

}  // namespace smemtune
