#include "tuner/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

#include "tuner/report/text.h"

namespace smemtune {

namespace {

constexpr std::size_t gap = 2;            // the number of spaces between columns
constexpr std::size_t detail_indent = 4;  // the number of spaces before a detail below its row

using Cells = std::vector<std::string>;

// Whether a cell is empty, `-`, a range, or a number with or without a unit: `12.5 us`, `1.9..2.1`. `512x512` is none
// of these.
bool is_numeric(const std::string& cell) {
    if (cell.empty() || cell == "-") return true;
    auto begin = cell.find_first_not_of("+-");
    if (begin == std::string::npos || std::isdigit(static_cast<unsigned char>(cell[begin])) == 0) return false;
    begin = cell.find_first_not_of("0123456789.,", begin);
    return begin == std::string::npos || cell[begin] == ' ' || cell[begin] == 'e' || cell[begin] == '/';
}

// Counts the columns that a text takes in a terminal. Each character takes one, and has one or more bytes of UTF-8.
std::size_t columns_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char each) { return (static_cast<unsigned char>(each) & 0xC0U) != 0x80U; }));
}

// Aligned lines of cells. The caller checks whether their width fits.
class Layout {
public:
    explicit Layout(std::vector<Cells> rows) : rows_(std::move(rows)) {
        widths_.resize(rows_.front().size());
        for (const auto& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], columns_of(row[i]));
        }
        for (std::size_t i = 0; i < widths_.size(); ++i) {
            right_.push_back(
                i > 0 && rows_.size() > 1 &&
                std::all_of(rows_.begin() + 1, rows_.end(), [i](const Cells& row) { return is_numeric(row[i]); }));
        }
    }

    [[nodiscard]] std::size_t width() const {
        return std::accumulate(widths_.begin(), widths_.end(), gap * (widths_.size() - 1));
    }

    [[nodiscard]] std::string line(std::size_t row) const {
        std::string text;
        for (std::size_t i = 0; i < widths_.size(); ++i) {
            text += right_[i] ? fmt::format("{:>{}}", rows_[row][i], widths_[i])
                              : fmt::format("{:<{}}", rows_[row][i], widths_[i]);
            text.append(gap, ' ');
        }
        return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    }

private:
    std::vector<Cells> rows_;
    std::vector<std::size_t> widths_;
    std::vector<bool> right_;
};

// Returns the words with which all cells of the first column begin, and a space: `gemm f32 nn `. The last word of a
// cell is never included.
std::string common_words(const std::vector<Cells>& rows) {
    auto common = rows[1].front();
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto& cell = rows[i].front();
        const auto ends = std::ranges::mismatch(common, cell);
        common.erase(ends.in1, common.end());
    }
    return common.substr(0, common.find_last_of(' ') + 1);
}

}  // namespace

Table::Table(std::vector<Column> columns, std::string detail_heading)
    : columns_(std::move(columns)), detail_heading_(std::move(detail_heading)) {}

void Table::add(std::vector<std::string> cells, std::string detail) {
    cells.resize(columns_.size());
    rows_.push_back({std::move(cells), std::move(detail)});
}

std::string Table::to_text(std::size_t width) const {
    std::vector<Cells> cells(1);
    for (const auto& column : columns_) cells.front().push_back(column.heading);
    for (const auto& row : rows_) cells.push_back(row.cells);
    const auto fits = [width](const Layout& layout) { return width == 0 || layout.width() <= width; };

    auto with_details = cells;
    const bool has_details = std::ranges::any_of(rows_, [](const Row& row) { return !row.detail.empty(); });
    if (has_details) {
        with_details.front().push_back(detail_heading_);
        for (std::size_t i = 0; i < rows_.size(); ++i) with_details[i + 1].push_back(rows_[i].detail);
    }
    if (const Layout layout(with_details); fits(layout)) {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) text += layout.line(i);
        return text;
    }

    std::optional<Layout> layout(cells);
    if (!fits(*layout) && !rows_.empty()) {
        if (const auto common = common_words(cells); !common.empty()) {
            cells.front().front() = common.substr(0, common.size() - 1);
            for (std::size_t i = 1; i < cells.size(); ++i) cells[i].front().erase(0, common.size());
            layout.emplace(cells);
        }
    }
    for (auto i = columns_.size(); i-- > 0 && !fits(*layout);) {
        if (!columns_[i].optional) continue;
        for (auto& row : cells) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
        layout.emplace(cells);
    }
    const bool is_table = fits(*layout);
    std::string text = is_table ? layout->line(0) : "";
    for (std::size_t i = 1; i < cells.size(); ++i) {
        if (is_table) {
            text += layout->line(i);
        } else {
            std::string paragraph = cells[i].front();
            for (std::size_t j = 1; j < cells[i].size(); ++j) {
                if (!cells[i][j].empty()) paragraph += "; " + cells[0][j] + " " + cells[i][j];
            }
            text += folded(paragraph, width, 0, detail_indent);
        }
        if (!rows_[i - 1].detail.empty()) text += folded(rows_[i - 1].detail, width, detail_indent, detail_indent);
    }
    return text;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
    std::vector<Column> columns;
    for (const auto& heading : rows.front()) columns.push_back({heading});
    Table made(columns);
    for (std::size_t i = 1; i < rows.size(); ++i) made.add(rows[i]);
    return made.to_text(width);
}

}  // namespace smemtune
