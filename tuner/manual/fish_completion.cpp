// Writes the completion script for fish: one line for each command and option.
#include <fmt/format.h>

#include "tuner/manual/completion.h"

namespace smemtune {

namespace {

// Puts the text in single quotes. Within them, fish knows the escapes \\ and \'.
std::string fish_word(const std::string& text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') word += '\\';
        word += c;
    }
    return word + "'";
}

std::string fish_condition(const std::string& function, const std::string& commands) {
    return fish_word("__smemtune_" + function + " " + commands);
}

std::string fish_quoted_names(std::span<const DocumentedCommand> commands) {
    std::string names;
    for (const auto& command : commands) {
        if (command.name.find(' ') != std::string::npos) names += " " + fish_word(command.name);
    }
    return names;
}

// Returns the arguments of fish's `complete` that propose these values; empty if no values are known.
std::string fish_values(const Proposals& proposals) {
    if (proposals.list) {
        return fmt::format(" -a '(__smemtune_list {} {})'", proposals.paths == Paths::none ? "none" : "paths",
                           fmt::join(proposals.words, " "));
    }
    std::string text;
    if (!proposals.words.empty()) text += fmt::format(" -a '{}'", fmt::join(proposals.words, " "));
    if (proposals.paths == Paths::files) text += " -F";
    if (proposals.paths == Paths::folders) text += " -a '(__fish_complete_directories (commandline -ct))'";
    return text;
}

// Returns the arguments of fish's `complete` for an option with a value. `-r` means that a value is required. `-x`
// means the same, and that fish offers no files.
std::string fish_value(const Option& option) {
    const auto proposals = proposals_of(option);
    const auto* const required = option.implicit                                      ? ""
                                 : proposals.paths == Paths::files && !proposals.list ? " -r"
                                                                                      : " -x";
    return required + fish_values(proposals);
}

std::string fish_option(const std::string& condition, const Option& option) {
    auto text = "complete -c smemtune -n " + condition;
    if (!option.letter.empty()) text += " -s " + option.letter;
    text += " -l " + option.name;
    if (!option.value.empty()) text += fish_value(option);
    return text + " -d " + fish_word(first_sentence(option.summary)) + "\n";
}

constexpr const char* fish_head = R"(# Completion of smemtune for fish. 'smemtune completion fish' writes it.

# __smemtune_is COMMAND...: whether the line up to the cursor has one of these commands; '' means no command.
function __smemtune_is
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -e words[1]
    test "$words[1]" = help; and return 1
    set -l command (__smemtune_command $words)
    contains -- "$command" $argv
end

# __smemtune_help_of COMMAND...: whether one of these commands follows 'smemtune help'; '' means no command.
function __smemtune_help_of
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    test "$words[2]" = help; or return 1
    set -e words[1..2]
    set -l command (__smemtune_command $words)
    contains -- "$command" $argv
end

# Values that commas separate: __smemtune_list none|paths WORD...
function __smemtune_list
    set -l before (string match --regex '.*,' -- (commandline --current-token | string replace --regex '^--[^=]*=' ''))
    for word in $argv[2..]
        echo $before$word
    end
    if test $argv[1] = paths
        set -l last (string replace --regex '.*[,=]' '' -- (commandline --current-token))
        for path in (__fish_complete_path $last)
            echo $before$path
        end
    end
end

# The command that these words begin with; tune if they begin with an option.
function __smemtune_command
    switch "$argv[1] $argv[2]"
        case@
            echo "$argv[1] $argv[2]"
        case '-*'
            echo tune
        case '*'
            echo "$argv[1]"
    end
end

complete -c smemtune -f
)";

}  // namespace

std::string fish_completion(std::span<const DocumentedCommand> commands) {
    std::string text = fish_head;
    text.replace(text.find('@'), 1, fish_quoted_names(commands));
    const auto propose = [&](const std::string& after, const std::string& word, const std::string& summary) {
        for (const auto* const function : {"is", "help_of"}) {
            text +=
                fmt::format("complete -c smemtune -n {} -a {} -d {}\n", fish_condition(function, "\"" + after + "\""),
                            word, fish_word(first_sentence(summary)));
        }
    };
    for (const auto& command : commands) {
        if (command.name.find(' ') == std::string::npos) propose("", command.name, command.summary);
        for (const auto& row : command.help.commands) propose(command.name, row.term, row.text);
    }
    text += fmt::format("complete -c smemtune -n {} -a help -d 'Show the options of a command'\n",
                        fish_condition("is", "\"\""));
    for (const auto& command : commands) {
        const auto condition =
            fish_condition("is", "\"" + command.name + "\"" + (command.name == "tune" ? " \"\"" : ""));
        text += "\n# smemtune " + command.name + "\n";
        for (const auto& option : command.options) text += fish_option(condition, option);
        const auto words = proposals_of(command);
        if (!words.empty() && subcommands_of(command).empty()) {
            text += "complete -c smemtune -n " + condition + fish_values(words) + "\n";
        }
    }
    return text;
}

}  // namespace smemtune
