// smemtune man: prints a manual page, or writes all manual pages into a folder for the installation.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tuner/manual/man_page.h"
#include "tuner/manual/manual_files.h"

namespace smemtune {

namespace {

CommandLine man_options(const ProcessEnvironment& process_environment) {
    std::vector<std::string> names;
    for (const auto& command : commands()) {
        if (*command.summary != '\0') names.emplace_back(command.name);
    }
    CommandLine line(process_environment,
                     {.name = "man",
                      .summary = "Print the manual page of a command, or of smemtune itself, as roff text for man and "
                                 "similar programs.",
                      .words = "[COMMAND]",
                      .examples = {{"smemtune man tune | man -l -", "Reads a page that is not installed."},
                                   {"smemtune man db trials >smemtune-db-trials.1", ""},
                                   {"smemtune man --to ~/.local/share/man", "Writes every page, into man1 there."}},
                      .notes = "'cmake --install' and the Debian package install the pages: 'man smemtune', 'man "
                               "smemtune-tune'.",
                      .word_proposals = names});
    line.add({.name = "to",
              .value = "FOLDER",
              .summary = "Write every page into FOLDER/man1 instead.",
              .paths = Paths::folders});
    line.accept_words(2);
    return line;
}

}  // namespace

int man_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = man_options(process_environment);
    if (!line.parse(arguments)) return success;
    const auto documented = documented_commands();
    const auto pages = man_pages(program_help(), documented);
    if (line.has("to")) {
        if (!line.words().empty()) throw UsageError("--to writes every page; leave out '" + line.words().front() + "'");
        const auto folder = std::filesystem::path(line.text("to")) / "man1";
        for (const auto& page : pages) write_manual_file(folder / (page.name + ".1"), page.text);
        return success;
    }
    std::size_t chosen = 0;  // page 0 describes the program; the others follow in the order of `documented`
    if (!line.words().empty()) {
        std::vector<std::string> names;
        names.reserve(documented.size());
        for (const auto& command : documented) names.push_back(command.name);
        const auto name = fmt::format("{}", fmt::join(line.words(), " "));
        check_known("command", name, names);
        chosen = 1 + static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    }
    fmt::print("{}", pages[chosen].text);
    return success;
}

}  // namespace smemtune
