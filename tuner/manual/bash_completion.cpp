// Writes the completion script for bash: one function with a case for each command.
#include <fmt/format.h>

#include <array>

#include "tuner/cli/shell_text.h"
#include "tuner/manual/completion.h"

namespace smemtune {

namespace {

constexpr const char* bash_head = R"(# Completion of smemtune for bash. 'smemtune completion bash' writes it.

# _smemtune_propose KIND PATHS WORDS: KIND is list if commas separate values, else word; PATHS is none, files, folders.
_smemtune_propose() {
    local prefix= part=$current
    if [[ $1 == list ]]; then
        part=${current##*,}
        prefix=${current%"$part"}
        compopt -o nospace
    fi
    mapfile -t COMPREPLY < <(compgen -W "$3" -P "$prefix" -- "$part")
    [[ $2 == none ]] && return
    local action=file
    [[ $2 == folders ]] && action=directory
    compopt -o filenames
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -A $action -P "$prefix" -- "$part")
}

_smemtune() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=tune options
    # bash makes a word of the = in --option=value.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    local before=("${COMP_WORDS[@]:1:COMP_CWORD - 1}")
)";

// Returns the lines of the script that find the command in a command line. If a command line has options but no
// command, the command is tune.
std::string command_cases(std::span<const DocumentedCommand> commands) {
    std::vector<std::string> names;
    std::string subcommands;
    for (const auto& command : commands) {
        if (command.name.find(' ') == std::string::npos) {
            names.push_back(command.name);
        } else {
            subcommands += (subcommands.empty() ? "" : " | ") + shell_word(command.name);
        }
    }
    std::string overviews;
    for (const auto& command : commands) {
        const auto subs = subcommands_of(command);
        if (!subs.empty())
            overviews += fmt::format("            {}) _smemtune_propose word none '{}' ;;\n", command.name,
                                     fmt::join(subs, " "));
    }
    auto text = fmt::format(
        "    if [[ ${{before[0]-}} == help ]]; then\n"
        "        case ${{before[*]:1}} in\n"
        "            '') _smemtune_propose word none '{0}' ;;\n"
        "{1}"
        "        esac\n"
        "        return\n"
        "    fi\n"
        "    if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then\n"
        "        _smemtune_propose word none '{0} help'\n"
        "        return\n"
        "    fi\n",
        fmt::join(names, " "), overviews);
    text += "    case \"${before[0]-} ${before[1]-}\" in\n";
    if (!subcommands.empty())
        text += "        " + subcommands + ")\n            command=\"${before[0]-} ${before[1]-}\"\n            ;;\n";
    return text + "        ' ' | -*) ;;\n        *) command=${before[0]-} ;;\n    esac\n";
}

std::string propose(const Proposals& proposals) {
    if (proposals.empty()) return {};
    constexpr std::array paths{"none", "files", "folders"};
    return fmt::format("_smemtune_propose {} {} '{}'", proposals.list ? "list" : "word",
                       paths.at(static_cast<std::size_t>(proposals.paths)), fmt::join(proposals.words, " "));
}

std::string option_pattern(const Option& option) {
    return (option.letter.empty() ? "" : "-" + option.letter + " | ") + "--" + option.name;
}

// Returns cases that propose the values of each option that takes a value. They propose nothing if the values are not
// known.
std::string value_cases(const DocumentedCommand& command) {
    std::string known;
    std::string unknown;
    for (const auto& option : command.options) {
        if (option.value.empty()) continue;
        const auto proposed = propose(proposals_of(option));
        if (proposed.empty()) {
            unknown += (unknown.empty() ? "" : " | ") + option_pattern(option);
        } else {
            known += fmt::format("                {}) {}; return ;;\n", option_pattern(option), proposed);
        }
    }
    if (!unknown.empty()) known += fmt::format("                {}) return ;;\n", unknown);
    if (known.empty()) return known;
    return "            [[ $current == -* ]] || case $previous in\n" + known + "            esac\n";
}

std::string bash_case(const DocumentedCommand& command) {
    std::string options;
    for (const auto& option : command.options) options += (options.empty() ? "--" : " --") + option.name;
    auto text = fmt::format("        {})\n            options='{}'\n", shell_word(command.name), options);
    text += value_cases(command);
    const auto words = propose(proposals_of(command));
    if (!words.empty()) text += "            " + words + "\n";
    return text + "            ;;\n";
}

}  // namespace

std::string bash_completion(std::span<const DocumentedCommand> commands) {
    auto text = bash_head + command_cases(commands) + "    case $command in\n";
    for (const auto& command : commands) text += bash_case(command);
    return text +
           "        *) return ;;\n"
           "    esac\n"
           "    [[ $current == -* ]] && mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
           "    return 0\n"
           "}\n\n"
           "complete -F _smemtune smemtune\n";
}

}  // namespace smemtune
