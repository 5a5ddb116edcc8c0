#include "tuner/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

namespace smemtune {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

std::string folded(const std::string& text, std::size_t width, std::size_t first, std::size_t rest) {
    std::string result;
    auto indent = first;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto room = width == 0 ? text.size() : std::max<std::size_t>(width > indent ? width - indent : 0, 1);
        auto end = text.size();
        if (end - begin > room) {
            // The line may break at a space just beyond its end, because the space is dropped. A comma stays on the
            // line.
            const auto space = text.rfind(' ', begin + room);
            const auto comma = text.rfind(',', begin + room - 1);
            end = begin + room;
            if (space != std::string::npos && space > begin) end = space;
            if (comma != std::string::npos && comma > begin && (end == begin + room || comma > end)) end = comma + 1;
        }
        result += std::string(indent, ' ') + text.substr(begin, end - begin) + '\n';
        begin = std::min(text.find_first_not_of(' ', end), text.size());
        indent = rest;
    }
    return result;
}

std::string differences_text(const Configuration& configuration, const Configuration& defaults) {
    const auto differences = differing(configuration, defaults);
    return differences.values.empty() ? "default" : to_text(differences);
}

std::string json_text(const nlohmann::json& value) {
    return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string time_text(double microseconds) {
    if (microseconds < 1e3) return fmt::format("{:.4g} us", microseconds);
    if (microseconds < 1e6) return fmt::format("{:.4g} ms", microseconds / 1e3);
    return fmt::format("{:.4g} s", microseconds / 1e6);
}

std::string duration_text(double seconds) {
    const auto whole = std::llround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double operations_per_second) {
    return operations_per_second < 1e11 ? fmt::format("{:.2f} G", operations_per_second / 1e9)
                                        : fmt::format("{:.2f} T", operations_per_second / 1e12);
}

std::string count_text(std::uint64_t count) {
    auto text = std::to_string(count);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) {
        text.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return text;
}

std::string counted(std::uint64_t count, const std::string& thing) {
    return count_text(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace smemtune
