#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "tuner/formats/formats.h"
#include "tuner/replay/json_numbers.h"
#include "tuner/report/stored/csv.h"

namespace smemtune {

namespace {

// A column is a field of TuningResults::header, a parameter, or a field of an entry. The prefix of the column's name
// tells these kinds apart.
constexpr std::string_view header_prefix = "header.";
constexpr std::string_view parameter_prefix = "parameter.";

// Whether a cell with this text must be quoted as JSON. Without quotes, value_at() would reject it or read another
// value.
bool means_a_value(const std::string& text) {
    try {
        return !python_parse(text).is_discarded();
    } catch (const NumberOutOfRange&) {
        return true;
    }
}

// Returns the text of a cell: strings as they are, unless value_at() would read them as something else. All other
// values are JSON.
std::string cell_text(const Fields& value) {
    if (!value.is_string()) return python_dump(value);
    const auto& text = value.get_ref<const std::string&>();
    return text.empty() || text.starts_with('\x01') || means_a_value(text) ? python_dump(value) : text;
}

Fields value_at(const std::string& path, std::size_t line, const std::string& cell) {
    try {
        auto parsed = python_parse(cell);
        return parsed.is_discarded() ? Fields(cell) : parsed;
    } catch (const NumberOutOfRange& error) {
        reject_format(path, "the row of line " + std::to_string(line) + " " + error.what());
    }
}

struct CsvRow {
    std::size_t line = 1;  // the file's line where the row begins; a cell may have several lines
    std::vector<std::string> cells{""};
};

// Splits CSV text into rows, as in RFC 4180.
std::vector<CsvRow> split_rows(const std::string& path, const std::string& text) {
    std::vector<CsvRow> rows;
    CsvRow row;
    std::size_t line = 1;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto each = text[i];
        if (each == '\n') ++line;
        auto& cell = row.cells.back();
        if (quoted) {
            if (each != '"') {
                cell += each;
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                cell += text[++i];
            } else {
                quoted = false;
            }
        } else if (each == '"' && cell.empty()) {
            quoted = true;
        } else if (each == ',') {
            row.cells.emplace_back();
        } else if (each == '\n') {
            rows.push_back(std::exchange(row, CsvRow{.line = line}));
        } else if (each != '\r') {
            cell += each;
        }
    }
    if (quoted) {
        reject_format(path,
                      "the quoted cell in the row of line " + std::to_string(row.line) + " has no end; copy it again");
    }
    if (row.cells.size() > 1 || !row.cells[0].empty()) rows.push_back(std::move(row));
    return rows;
}

void add_name(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

std::vector<TuningResults> parse_csv(const std::string& path, const std::string& text) {
    const auto rows = split_rows(path, text);
    const auto is_parameter = [](const std::string& name) { return name.starts_with(parameter_prefix); };
    if (rows.empty() || std::ranges::none_of(rows[0].cells, is_parameter)) {
        reject_format(path,
                      "is no CSV of tuning results: its first line names no column such as "
                      "parameter.TILE_WIDTH; give a cache of Kernel Tuner, T4 results, a wisdom file, or CSV as "
                      "'smemtune db export --format csv' writes it");
    }
    const auto& columns = rows[0].cells;
    std::set<std::string> names;
    for (const auto& column : columns) {
        const auto name = is_parameter(column) ? column.substr(parameter_prefix.size()) : column;
        if (!names.insert(name).second)
            reject_format(path, "has the column '" + name + "' twice; rename or remove one");
    }
    std::vector<TuningResults> all;
    for (const auto& [line, cells] : std::span(rows).subspan(1)) {
        if (cells.size() != columns.size()) {
            reject_format(path, "the row of line " + std::to_string(line) + " has " + std::to_string(cells.size()) +
                                    " cells, not " + std::to_string(columns.size()) + "; repair it");
        }
        TuningResults one;
        Fields entry = Fields::object();
        for (std::size_t column = 0; column < columns.size(); ++column) {
            const auto& name = columns[column];
            if (cells[column].empty()) continue;
            auto value = value_at(path, line, cells[column]);
            if (name.starts_with(header_prefix)) {
                one.header[name.substr(header_prefix.size())] = std::move(value);
            } else if (is_parameter(name)) {
                one.parameters.push_back(name.substr(parameter_prefix.size()));
                entry[one.parameters.back()] = std::move(value);
            } else {
                entry[name] = std::move(value);
            }
        }
        const auto same = std::ranges::find_if(all, [&](const TuningResults& each) {
            return each.header == one.header && each.parameters == one.parameters;
        });
        auto& results = same == all.end() ? all.emplace_back(std::move(one)) : *same;
        results.entries.push_back(std::move(entry));
    }
    return all;
}

std::string results_csv_text(const std::vector<TuningResults>& results) {
    std::vector<std::string> header;
    std::vector<std::string> parameters;
    std::vector<std::string> fields;
    for (const auto& each : results) {
        for (const auto& [name, value] : each.header.items()) add_name(header, name);
        for (const auto& name : each.parameters) add_name(parameters, name);
    }
    for (const auto& each : results) {
        for (const auto& entry : each.entries) {
            for (const auto& [name, value] : entry.items()) {
                if (std::ranges::find(each.parameters, name) == each.parameters.end()) add_name(fields, name);
            }
        }
    }
    std::string text;
    const auto end_row = [&] { text.back() = '\n'; };
    for (const auto& name : header) text += csv_cell(std::string(header_prefix) + name) + ",";
    for (const auto& name : parameters) text += csv_cell(std::string(parameter_prefix) + name) + ",";
    for (const auto& name : fields) text += csv_cell(name) + ",";
    end_row();
    for (const auto& each : results) {
        for (const auto& entry : each.entries) {
            const auto cell = [&](const Fields& from, const std::string& name) {
                text += (from.contains(name) ? csv_cell(cell_text(from[name])) : "") + ",";
            };
            for (const auto& name : header) cell(each.header, name);
            for (const auto& name : parameters) cell(entry, name);
            for (const auto& name : fields) cell(entry, name);
            end_row();
        }
    }
    return text;
}

}  // namespace smemtune
