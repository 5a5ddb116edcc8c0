// smemtune db merge: merges the databases of several machines into a new one.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tuner/cli/interruption.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/report/text.h"
#include "tuner/shipping/merge_databases.h"
#include "tuner/shipping/new_database.h"

namespace smemtune {

namespace {

std::size_t winners_in(const DatabaseContent& content) {
    return static_cast<std::size_t>(
        std::ranges::count_if(content.trials, [](const DatedTrial& trial) { return !trial.decided_at.empty(); }));
}

nlohmann::json merge_json(const std::string& file, const Arguments& sources, const MergedContent& merged) {
    const auto& content = merged.content;
    return {{"file", file},
            {"databases", sources},
            {"trials", content.trials.size()},
            {"shared_trials", merged.shared_trials},
            {"differing_trials", merged.differing_trials},
            {"unrecorded_trials", merged.unrecorded_trials},
            {"winners", winners_in(content)},
            {"shared_winners", merged.shared_winners},
            {"portfolios", content.portfolios.size()},
            {"binaries", content.binaries.size()},
            {"templates", content.templates.size()},
            {"devices", content.devices.size()},
            {"problems", content.problems.size()},
            {"runs", content.runs.size()},
            {"left_out", merged.left_out}};
}

std::string merge_text(const std::string& file, std::size_t sources, const MergedContent& merged) {
    const auto& content = merged.content;
    auto text =
        fmt::format("{}: {} of {}", file, counted(content.trials.size(), "trial"), counted(sources, "database"));
    if (merged.shared_trials > 0) {
        text += fmt::format(" ({} in several of them, {} with different outcomes)", merged.shared_trials,
                            merged.differing_trials);
    }
    text += fmt::format(", {}", counted(winners_in(content), "winner"));
    if (merged.shared_winners > 0) text += fmt::format(" ({} chosen from several)", merged.shared_winners);
    text += fmt::format(", {}, {}, {}\n", counted(content.portfolios.size(), "portfolio"),
                        counted(content.templates.size(), "template"), counted(content.devices.size(), "device"));
    if (merged.unrecorded_trials > 0) {
        text +=
            fmt::format("{} verified with machine code that is not in the new database; tuning verifies them again\n",
                        counted(merged.unrecorded_trials, "trial"));
    }
    return text;
}

}  // namespace

int database_merge_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db merge",
         .summary = "Merge the databases of several machines into a new one.",
         .words = "FILE FILE...",
         .examples = {{"smemtune db merge --to all.db node1.db node2.db", ""}},
         .notes =
             "Everything comes along: trials, winners, portfolios, machine code, templates and runs, with their dates. "
             "If one trial has two outcomes, a verified measurement or a lasting rejection is preferred to an outcome "
             "that was cut short, crashed or timed out. Otherwise the newest outcome is kept; if the dates are equal, "
             "the one with more samples. Of two winners, the faster one is kept; of two portfolios, the one that was "
             "measured last. The order of the files has no effect, and no file changes. A file with a damaged row is "
             "refused. docs/design.md has all rules."});
    line.add({.name = "to", .value = "FILE", .summary = "The new database. It must not exist."});
    line.add_json();
    line.accept_words(1000);
    if (!line.parse(arguments)) return success;
    const auto& sources = line.words();
    if (sources.size() < 2 || !line.has("to")) {
        throw UsageError("db merge needs two databases or more, and --to FILE; see 'smemtune db merge --help'");
    }
    const auto& file = line.text("to");
    if (std::filesystem::exists(file)) throw UsageError(file + " exists; remove it, or choose another file");
    watch_for_interruption("ending; nothing will be written\n");
    NewDatabase database(file);
    const auto merged =
        merge_databases({sources.begin(), sources.end()}, database.store(), [] { return interrupted().load(); });
    if (!merged) return interrupted_by_user;
    database.finish();
    if (line.flag("json")) {
        print_json_document("db merge", merge_json(file, sources, *merged));
    } else {
        for (const auto& reason : merged->left_out) fmt::print(stderr, "left out: {}\n", reason);
        fmt::print("{}", merge_text(file, sources.size(), *merged));
    }
    return success;
}

}  // namespace smemtune
