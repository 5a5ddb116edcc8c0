#include "tuner/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    const auto numeric = [&](std::size_t column) {
        return std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
            return column >= row.size() || row[column].empty() || row[column] == "-" ||
                   std::isdigit(static_cast<unsigned char>(row[column].front())) != 0;
        });
    };
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += numeric(i) && i > 0 ? fmt::format("{:>{}}  ", row[i], widths[i])
                                        : fmt::format("{:<{}}  ", row[i], widths[i]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string json_text(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string time_text(double microseconds) {
    if (microseconds < 1e3) return fmt::format("{:.4g} us", microseconds);
    if (microseconds < 1e6) return fmt::format("{:.4g} ms", microseconds / 1e3);
    return fmt::format("{:.4g} s", microseconds / 1e6);
}

std::string rate_text(double operations_per_second) {
    return operations_per_second < 1e11 ? fmt::format("{:.2f} G", operations_per_second / 1e9)
                                        : fmt::format("{:.2f} T", operations_per_second / 1e12);
}

}  // namespace smemtune
