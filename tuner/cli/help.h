// Lays out help texts: paragraphs and lists of terms, wrapped to a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

/// A term (a command, an option, a column) with its explanation.
struct HelpRow {
    std::string term;
    std::string text;
};

/// `text` with its lines broken at spaces, and within words that are longer than a line, so that none exceeds
/// `columns`. Each line begins with `indent` spaces and ends with a newline.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent = 0);

/// Terms on the left, indented by two, their texts in a column on the right. A term too long for the left column has
/// its text on the line below.
std::string help_rows(const std::vector<HelpRow>& rows, std::size_t columns);

}  // namespace smemtune
