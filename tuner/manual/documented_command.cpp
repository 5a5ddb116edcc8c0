#include "tuner/manual/documented_command.h"

#include <algorithm>
#include <cctype>

#include "tuner/commands/command.h"

namespace smemtune {

namespace {

// Appends the documentation of the command `name` and of its subcommands. `function` runs the command.
void describe(std::vector<DocumentedCommand>& all, const std::string& name, const std::string& summary,
              CommandFunction function, Arguments words) {
    DocumentedCommand command{.name = name, .summary = summary};
    // Commands get an empty environment, so that defaults of this machine or user do not enter the texts.
    ProcessEnvironment nowhere;
    nowhere.take_help = [&](const CommandHelp& help, const std::vector<Option>& options) {
        command.help = help;
        std::ranges::copy_if(options, std::back_inserter(command.options),
                             [](const Option& option) { return !option.hidden; });
    };
    words.emplace_back("--help");
    (void)function(words, nowhere);
    words.pop_back();
    all.push_back(command);
    for (const auto& [sub, sub_summary] : command.help.commands) {
        auto with_sub = words;
        with_sub.push_back(sub);
        describe(all, name + " " + sub, sub_summary, function, std::move(with_sub));
    }
}

}  // namespace

std::vector<DocumentedCommand> documented_commands() {
    std::vector<DocumentedCommand> all;
    for (const auto& command : commands()) {
        if (*command.summary != '\0') describe(all, command.name, command.summary, command.function, {});
    }
    return all;
}

Proposals proposals_of(const Option& option) {
    return {.words = option.choices.empty() ? option.proposals : option.choices,
            .paths = option.value == "FILE" ? Paths::files : option.paths,
            .list = option.list};
}

Proposals proposals_of(const DocumentedCommand& command) {
    Proposals proposals{.words = subcommands_of(command)};
    const auto& words = command.help.words;
    if (proposals.words.empty()) proposals.words = command.help.word_proposals;
    if (words.find("FILE") != std::string::npos) proposals.paths = Paths::files;
    if (words.find("FOLDER") != std::string::npos) proposals.paths = Paths::folders;
    return proposals;
}

std::vector<std::string> subcommands_of(const DocumentedCommand& command) {
    std::vector<std::string> names;
    for (const auto& row : command.help.commands) names.push_back(row.term);
    return names;
}

std::string first_sentence(const std::string& text) {
    auto end = text.find(". ");
    // A full stop before a lower-case letter belongs to "..." or to an abbreviation, and does not end the sentence.
    while (end != std::string::npos && std::isupper(static_cast<unsigned char>(text[end + 2])) == 0) {
        end = text.find(". ", end + 1);
    }
    if (end != std::string::npos) return text.substr(0, end);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace smemtune
