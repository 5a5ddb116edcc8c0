// Tables for people: aligned columns that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace smemtune {

/// A column's heading. An optional column is left out where the table would be too wide with it.
struct Column {
    std::string heading;
    bool optional = false;
};

/// Rows under headings. Columns of numbers are aligned to the right. A row may have a detail, a longer text that stands
/// in the last column where there is room for it, and else on lines of its own below the row.
class Table {
public:
    explicit Table(std::vector<Column> columns, std::string detail_heading = {});

    /// One cell for each column. No cell holds a newline.
    void add(std::vector<std::string> cells, std::string detail = {});
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// Lines of at most `width` characters; with 0, of any length. Nothing is cut. Where the table is too wide, first
    /// the details move below their rows, then the words with which all cells of the first column begin move into its
    /// heading, then optional columns are left out from the last on, and at last each row becomes a paragraph.
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

/// Rows of cells, of which the first row holds the headings.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

}  // namespace smemtune
