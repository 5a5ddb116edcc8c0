// Tables with aligned columns that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace smemtune {

/// A column's heading. An optional column is left out if the table is too wide with it.
struct Column {
    std::string heading;
    bool optional = false;
};

/// A table with headings. Columns of numbers are right-aligned. A row may have a detail, which is a longer text.
/// Details are in the last column if there is room for them, and otherwise below their rows.
class Table {
public:
    explicit Table(std::vector<Column> columns, std::string detail_heading = {});

    /// Adds one cell for each column. Cells must not contain newlines.
    void add(std::vector<std::string> cells, std::string detail = {});
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// Formats lines of at most `width` characters (0: any length) without cutting anything. A table that is too wide
    /// is reduced in these steps, until it fits:
    /// 1. Details move below their rows.
    /// 2. If all cells of the first column begin with the same words, these words replace the column's heading.
    /// 3. Optional columns are left out, from the last one on.
    /// 4. Each row becomes a paragraph.
    [[nodiscard]] std::string to_text(std::size_t width = 0) const;

private:
    struct Row {
        std::vector<std::string> cells;
        std::string detail;
    };

    std::vector<Column> columns_;
    std::string detail_heading_;
    std::vector<Row> rows_;
};

/// Formats a table from rows of cells. The first row has the headings.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

}  // namespace smemtune
