// Converts JSON to CSV, for spreadsheets.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smemtune {

/// Formats a cell as RFC 4180 demands: in quotes if it has a comma, a quote or a line break.
std::string csv_cell(const std::string& cell);

/// Converts `rows`, an array of objects, to CSV (RFC 4180, but lines end in `\n`). The first line has the headings.
/// Nested objects become columns with dotted names (`problem.type`), lists become JSON text. A missing value, or null,
/// becomes an empty cell. Columns are in the order of their first use. The text is empty if `rows` is empty.
std::string csv_text(const nlohmann::json& rows);

}  // namespace smemtune
