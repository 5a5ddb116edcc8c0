// CSV for spreadsheets, from the same values as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smemtune {

/// A cell of RFC 4180: quoted if it has to be.
std::string csv_cell(const std::string& cell);

/// RFC 4180 with a heading line and lines that end in `\n`. `rows` is an array of objects. Nested objects become
/// columns with dotted names (`problem.type`), lists become JSON text. A value that a row lacks, or null, is an empty
/// cell. Columns are in the order of their first use. Empty if `rows` is.
std::string csv_text(const nlohmann::json& rows);

}  // namespace smemtune
