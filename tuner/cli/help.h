// Formats help texts: paragraphs and lists of terms, wrapped to a width.
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

/// Wraps `text` to `columns`. Lines break at spaces, or within a word that is longer than a line. Each line begins with
/// `indent` spaces and ends with a newline.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent = 0);

/// Lists terms in a column that is indented by two spaces, and their explanations in a second column. The explanation
/// of a term that is too long for the first column begins on the next line.
std::string help_rows(const std::vector<HelpRow>& rows, std::size_t columns);

}  // namespace smemtune
