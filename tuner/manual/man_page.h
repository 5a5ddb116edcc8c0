// Writes manual pages in roff, with the macros of man(7).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/commands/command.h"
#include "tuner/manual/documented_command.h"

namespace smemtune {

struct ManPage {
    std::string name;  ///< such as `smemtune` or `smemtune-db-trials`; always in section 1
    std::string text;
};

/// Returns the page of the program, then one page for each command.
std::vector<ManPage> man_pages(const ProgramHelp& help, std::span<const DocumentedCommand> commands);

/// Escapes `text` such that roff prints it unchanged at any place of a line. A newline in `text` breaks the line.
std::string roff_text(const std::string& text);

}  // namespace smemtune
