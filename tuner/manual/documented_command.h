// What each command documents: the source of its manual page and of the completion of shells.
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/command_line.h"

namespace smemtune {

/// A command with the tables that its --help shows.
struct DocumentedCommand {
    std::string name;     ///< `tune`, `db trials`
    std::string summary;  ///< one line, as the list of commands has it
    CommandHelp help;
    std::vector<Option> options;  ///< without hidden ones
};

/// Every command that the help lists, each followed by its subcommands.
std::vector<DocumentedCommand> documented_commands();

/// What a shell proposes for one value.
struct Proposals {
    std::vector<std::string> words;
    Paths paths = Paths::none;
    bool list = false;  ///< several values, separated by commas

    [[nodiscard]] bool empty() const { return words.empty() && paths == Paths::none; }
};

/// What a shell may propose as the value of an option.
Proposals proposals_of(const Option& option);
/// For a command's words without a dash: subcommands, names, files.
Proposals proposals_of(const DocumentedCommand& command);

/// The subcommands' names; empty if the command has none.
std::vector<std::string> subcommands_of(const DocumentedCommand& command);

/// The first sentence, without its full stop.
std::string first_sentence(const std::string& text);

}  // namespace smemtune
