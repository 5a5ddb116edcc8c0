// Manual pages in roff, with the macros of man(7).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/commands/command.h"
#include "tuner/manual/documented_command.h"

namespace smemtune {

struct ManPage {
    std::string name;  ///< `smemtune`, `smemtune-db-trials`; its section is 1
    std::string text;
};

/// The page of the program, then one for each command.
std::vector<ManPage> man_pages(const ProgramHelp& help, std::span<const DocumentedCommand> commands);

/// `text` such that roff prints it as it is, at any place of a line; a newline breaks the line.
std::string roff_text(const std::string& text);

}  // namespace smemtune
