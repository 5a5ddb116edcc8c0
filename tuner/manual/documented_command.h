// Collects the documentation of each command, for manual pages and shell completions.
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/command_line.h"

namespace smemtune {

/// A command with the tables that its --help prints.
struct DocumentedCommand {
    std::string name;     ///< the command, such as `tune` or `db trials`
    std::string summary;  ///< what the command does, in one line, as in the list of commands
    CommandHelp help;
    std::vector<Option> options;  ///< all options except hidden ones
};

/// Returns every command that the help lists, each followed by its subcommands.
std::vector<DocumentedCommand> documented_commands();

/// What a shell proposes at one place of a command line.
struct Proposals {
    std::vector<std::string> words;
    Paths paths = Paths::none;
    bool list = false;  ///< several values are allowed, separated by commas

    [[nodiscard]] bool empty() const { return words.empty() && paths == Paths::none; }
};

/// Returns what a shell proposes as the value of an option.
Proposals proposals_of(const Option& option);
/// Returns what a shell proposes for a command's words without a dash: subcommands, names, files.
Proposals proposals_of(const DocumentedCommand& command);

/// Returns the names of the subcommands; empty if the command has none.
std::vector<std::string> subcommands_of(const DocumentedCommand& command);

/// Returns the first sentence of the text, without its full stop.
std::string first_sentence(const std::string& text);

}  // namespace smemtune
