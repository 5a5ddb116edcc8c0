// smemtune completion: prints the script with which a shell completes command lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "tuner/commands/command.h"
#include "tuner/manual/completion.h"
#include "tuner/manual/manual_files.h"

namespace smemtune {

namespace {

constexpr std::array shells{
    Shell{"bash", "bash-completion/completions/smemtune", bash_completion},
    Shell{"zsh", "zsh/site-functions/_smemtune", zsh_completion},
    Shell{"fish", "fish/vendor_completions.d/smemtune.fish", fish_completion},
};

}  // namespace

std::span<const Shell> completed_shells() { return shells; }

int completion_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    std::vector<std::string> names;
    names.reserve(shells.size());
    for (const auto& shell : shells) names.emplace_back(shell.name);
    CommandLine line(
        process_environment,
        {.name = "completion",
         .summary = "Print the script by which a shell completes commands, options and their values.",
         .words = fmt::format("{}", fmt::join(names, "|")),
         .examples = {{"source <(smemtune completion bash)", "For this shell; in ~/.bashrc, for every new shell."},
                      {"smemtune completion bash >~/.local/share/bash-completion/completions/smemtune",
                       "The package bash-completion then loads the script on demand."}},
         .notes = "'cmake --install' and the Debian package install the scripts where each shell finds them.",
         .word_proposals = names});
    line.add({.name = "to",
              .value = "FOLDER",
              .summary = "Write the scripts of all shells instead, each to its place below FOLDER, such as /usr/share.",
              .paths = Paths::folders});
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.has("to")) {
        if (!line.words().empty())
            throw UsageError("--to writes every script; leave out '" + line.words().front() + "'");
        for (const auto& shell : shells) {
            write_manual_file(std::filesystem::path(line.text("to")) / shell.file,
                              shell.completion(documented_commands()));
        }
        return success;
    }
    if (line.words().empty()) throw UsageError(fmt::format("completion needs a shell: {}", fmt::join(names, ", ")));
    check_known("shell", line.words().front(), names);
    const auto shell =
        std::ranges::find(shells, line.words().front(), [](const Shell& each) { return std::string(each.name); });
    fmt::print("{}", shell->completion(documented_commands()));
    return success;
}

}  // namespace smemtune
