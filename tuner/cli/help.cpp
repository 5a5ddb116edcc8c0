#include "tuner/cli/help.h"

#include <algorithm>

namespace smemtune {

namespace {

// Returns where to break a line of more than `room` letters: at a space if possible, otherwise after a slash or comma,
// and otherwise at `room`.
std::size_t break_of(std::string_view line, std::size_t room) {
    const auto space = line.rfind(' ', room);
    if (space != std::string_view::npos && space > 0) return space;
    const auto mark = line.find_last_of("/,", room - 1);
    return mark != std::string_view::npos && mark > 0 ? mark + 1 : room;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
    const auto room = std::max<std::size_t>(columns > indent ? columns - indent : 0, 20);
    std::string result;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        auto line = text.substr(begin, end - begin);
        while (line.size() > room) {
            const auto end_of_line = break_of(line, room);
            result.append(indent, ' ').append(line.substr(0, end_of_line)).push_back('\n');
            line.remove_prefix(end_of_line + (line[end_of_line] == ' ' ? 1 : 0));
        }
        if (!line.empty()) result.append(indent, ' ').append(line);
        result.push_back('\n');
        begin = end + 1;
    }
    return result;
}

std::string help_rows(const std::vector<HelpRow>& rows, std::size_t columns) {
    constexpr std::size_t margin = 2;
    constexpr std::size_t widest = 24;
    std::size_t width = 0;
    for (const auto& row : rows) {
        if (row.term.size() <= widest) width = std::max(width, row.term.size());
    }
    const auto left = margin + width + 2;
    std::string result;
    for (const auto& row : rows) {
        auto text = wrap(row.text, columns, left);
        const auto line = std::string(margin, ' ') + row.term;
        if (line.size() + 2 <= left) {
            text.replace(0, line.size(), line);
        } else {
            text = line + "\n" + text;
        }
        result += text;
    }
    return result;
}

}  // namespace smemtune
