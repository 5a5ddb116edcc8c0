#include "tuner/report/stored/csv.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace smemtune {

namespace {

using nlohmann::json;

class Columns {
public:
    void add(const std::string& name, const json& value, std::map<std::size_t, std::string>& cells) {
        if (value.is_object()) {
            for (const auto& [key, nested] : value.items()) add(name.empty() ? key : name + "." + key, nested, cells);
        } else if (!value.is_null()) {
            const auto [place, added] = numbers_.try_emplace(name, names_.size());
            if (added) names_.push_back(name);
            cells[place->second] = value.is_string() ? value.get<std::string>()
                                                     : value.dump(-1, ' ', false, json::error_handler_t::replace);
        }
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_;
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace

std::string csv_cell(const std::string& cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string text = "\"";
    for (const auto each : cell) text += each == '"' ? std::string("\"\"") : std::string(1, each);
    return text + "\"";
}

std::string csv_text(const json& rows) {
    Columns columns;
    std::vector<std::map<std::size_t, std::string>> lines;
    for (const auto& row : rows) columns.add("", row, lines.emplace_back());
    std::string text;
    for (const auto& name : columns.names()) text += (text.empty() ? "" : ",") + csv_cell(name);
    if (!text.empty()) text += '\n';
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < columns.names().size(); ++i) {
            const auto found = cells.find(i);
            text += (i == 0 ? "" : ",") + (found == cells.end() ? "" : csv_cell(found->second));
        }
        text += '\n';
    }
    return text;
}

}  // namespace smemtune
