// Writes the completion script for zsh: one function for each command, with a specification for each option.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/cli/shell_text.h"
#include "tuner/manual/completion.h"

namespace smemtune {

namespace {

constexpr const char* zsh_head = R"(#compdef smemtune
# Completion of smemtune for zsh. 'smemtune completion zsh' writes it.

# _smemtune_list PATHS WORD...: values that commas separate; PATHS is none, files or folders.
_smemtune_list() {
    local paths=$1
    shift
    compset -P '*,'
    compadd -S '' -- "$@"
    case $paths in
        files) _files -S '' ;;
        folders) _path_files -/ -S '' ;;
    esac
}

# _smemtune_word PATHS WORD...: one value.
_smemtune_word() {
    local paths=$1
    shift
    compadd -- "$@"
    case $paths in
        files) _files ;;
        folders) _path_files -/ ;;
    esac
}
)";

// Escapes text for a specification of zsh's _arguments, in which brackets and colons have a meaning.
std::string zsh_text(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

// Returns the action with which zsh completes a value; a space if no values are known.
std::string zsh_action(const Proposals& proposals) {
    if (proposals.empty()) return " ";
    constexpr std::array paths{"none", "files", "folders"};
    auto action = fmt::format(" _smemtune_{} {}", proposals.list ? "list" : "word",
                              paths.at(static_cast<std::size_t>(proposals.paths)));
    for (const auto& word : proposals.words) action += " " + word;
    return action;
}

std::string zsh_option(const Option& option) {
    std::string value;
    const auto* const equals = option.value.empty() ? "" : "=";
    if (!option.value.empty()) {
        value = fmt::format("{}:{}:{}", option.implicit ? ":" : "", zsh_text(option.value),
                            zsh_action(proposals_of(option)));
    }
    const auto rest = shell_word("[" + zsh_text(first_sentence(option.summary)) + "]" + value);
    if (option.letter.empty()) return fmt::format("--{}{}{}", option.name, equals, rest);
    const auto* const joined = option.value.empty() ? "" : "+";
    return fmt::format("'(-{0} --{1})'{{-{0}{2},--{1}{3}}}{4}", option.letter, option.name, joined, equals, rest);
}

std::string zsh_function(const std::string& name) {
    auto function = "_smemtune_" + name;
    std::ranges::replace(function, ' ', '_');
    return function;
}

std::string zsh_arguments(const DocumentedCommand& command) {
    std::string text = "    _arguments -s";
    for (const auto& option : command.options) text += " \\\n        " + zsh_option(option);
    if (const auto words = proposals_of(command); !words.empty() && subcommands_of(command).empty()) {
        text += " \\\n        " + shell_word("*:" + zsh_text(command.help.words) + ":" + zsh_action(words));
    }
    return text + "\n";
}

// Returns lines that propose the commands of `rows` while the user writes the second word of the command line.
std::string zsh_first_word(const std::vector<HelpRow>& rows) {
    std::string text =
        "    if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
        "        local -a commands=(\n";
    for (const auto& row : rows) {
        text += "            " + shell_word(zsh_text(row.term) + ":" + zsh_text(first_sentence(row.text))) + "\n";
    }
    return text + "        )\n        _describe command commands\n        return\n    fi\n";
}

// Returns lines that call one of the functions for `names`, depending on the second word of the command line.
std::string zsh_choice(const std::string& prefix, const std::vector<std::string>& names) {
    std::string text =
        "    if [[ $words[2] != -* ]]; then\n"
        "        local name=$words[2]\n"
        "        words=(\"${(@)words[2,-1]}\")\n"
        "        (( CURRENT-- ))\n"
        "        case $name in\n";
    for (const auto& name : names) text += fmt::format("            {}) {} ;;\n", name, zsh_function(prefix + name));
    return text + "        esac\n        return\n    fi\n";
}

std::string zsh_command(const DocumentedCommand& command) {
    auto text = "\n" + zsh_function(command.name) + "() {\n";
    const auto subcommands = subcommands_of(command);
    if (!subcommands.empty()) {
        text += zsh_first_word(command.help.commands) + zsh_choice(command.name + " ", subcommands);
    }
    return text + zsh_arguments(command) + "}\n";
}

constexpr const char* zsh_begin = R"(
_smemtune() {
    local curcontext=$curcontext
    if [[ $words[2] == help ]] && (( CURRENT > 2 )); then
        [[ $PREFIX == -* ]] && return
        words=(smemtune "${(@)words[3,-1]}")
        (( CURRENT-- ))
    fi
)";

constexpr const char* zsh_end = R"(    _smemtune_tune
}

# Loaded by compinit, or read by source.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _smemtune "$@"
else
    compdef _smemtune smemtune
fi
)";

}  // namespace

std::string zsh_completion(std::span<const DocumentedCommand> commands) {
    std::string text = zsh_head;
    std::vector<HelpRow> rows;
    std::vector<std::string> names;
    for (const auto& command : commands) {
        text += zsh_command(command);
        if (command.name.find(' ') != std::string::npos) continue;
        rows.push_back({command.name, command.summary});
        names.push_back(command.name);
    }
    rows.push_back({"help", "Show the options of a command."});
    return text + zsh_begin + zsh_first_word(rows) + zsh_choice("", names) + zsh_end;
}

}  // namespace smemtune
