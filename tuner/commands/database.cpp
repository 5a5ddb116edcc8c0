// smemtune db: shows the content of the tuning database.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "db/store.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/sizes.h"
#include "tuner/commands/command.h"
#include "tuner/report/database_report.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

void complain_of_nothing(const Store& store, const Store::Filter& filter) {
    fmt::print(stderr,
               "no trial matches{} See 'smemtune db list'; a part of a name is written with *, as in '*tiled'\n",
               did_you_mean_stored(store, filter.kernel_templates));
}

constexpr long long shown_trials = 20;

void print_json(const char* command, nlohmann::json content) {
    fmt::print("{}\n", json_text(document(command, std::move(content))));
}

Store::Filter::Sort parse_sort(const std::string& text) {
    using Sort = Store::Filter::Sort;
    if (text == "time") return Sort::time;
    if (text == "date") return Sort::date;
    return Sort::id;
}

std::vector<TrialFacts> read_all(const Store& store, std::vector<TrialRow> rows) {
    TrialReader reader(store);
    std::vector<TrialFacts> facts;
    facts.reserve(rows.size());
    for (auto& row : rows) facts.push_back(reader.read(std::move(row)));
    return facts;
}

nlohmann::json list_json(std::span<const TrialFacts> trials) {
    auto list = nlohmann::json::array();
    for (const auto& trial : trials) list.push_back(trial_json(trial));
    return list;
}

void list(const Store& store, const Store::Filter& filter, bool json, std::size_t width) {
    const auto summary = store.summary();
    const auto inventory = store.inventory(filter);
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(summary.path, ignored);
    if (json) return print_json("db list", inventory_json(summary, bytes, inventory));
    fmt::print("{}", inventory_text(summary, bytes, inventory, width));
}

void best(const Store& store, Store::Filter filter, bool json, std::size_t width) {
    filter.best_only = true;
    const auto winners = read_all(store, store.rows(filter));
    if (json) return print_json("db best", {{"winners", list_json(winners)}});
    fmt::print("{}", best_text(winners, width));
    if (winners.empty()) complain_of_nothing(store, filter);
}

void trials(const Store& store, const Store::Filter& filter, bool json, std::size_t width) {
    const auto found = read_all(store, store.rows(filter));
    const auto more = store.count(filter) - found.size();
    if (json) return print_json("db trials", {{"trials", list_json(found)}, {"more", more}});
    fmt::print("{}", trials_text(found, more, width));
    if (found.empty()) complain_of_nothing(store, filter);
}

void show(const Store& store, std::int64_t id, bool json, std::size_t width) {
    auto row = store.row(id);
    if (!row) throw UsageError(fmt::format("there is no trial {}; see 'smemtune db trials'", id));
    const auto trial = TrialReader(store).read(std::move(*row));
    const auto run = store.recall_run(trial.row.record.run);
    if (json) {
        auto content = trial_json(trial);
        if (run) content["run"] = run_json(*run);
        return print_json("db show", std::move(content));
    }
    fmt::print("{}", trial_text(trial, run ? &*run : nullptr, width));
}

void add_filters(CommandLine& line) {
    line.add_device("Only these devices: 0, 1, ..., host, or names as in 'smemtune db list'.", "");
    line.add_sizes("Only these sizes: 512 is 512x512x512 of gemm; 512..8192; 4096x4096x128.", "");
    line.add_templates("Only these templates.");
    line.add_operation("Only this operation.");
}

constexpr const char* patterns =
    "Names are compared as a whole; in a pattern, * stands for any text: --templates '*tiled', --sizes '512x*'.";

Store::Filter read_filter(const CommandLine& line) {
    const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
    return {.devices = stored_devices(line.text("device")),
            .kernel_templates = split(templates, ','),
            .sizes = stored_sizes(line.text("sizes"), known_size_forms(line.text("operation"))),
            .operations = split(line.text("operation"), ',')};
}

int list_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, {.name = "db list",
                                           .summary = "Show what the database holds.",
                                           .examples = {{"smemtune db list", ""}},
                                           .notes = patterns});
    add_filters(line);
    line.add_wide();
    line.add_database();
    line.add_json();
    if (!line.parse(arguments)) return success;
    list(Store(line.database(), Store::Access::read), read_filter(line), line.flag("json"), line.table_width());
    return success;
}

int best_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, {.name = "db best",
                                           .summary = "Show the winner of each problem on each device.",
                                           .examples = {{"smemtune db best --sizes 512..8192", ""}},
                                           .notes = patterns});
    add_filters(line);
    line.add_wide();
    line.add_database();
    line.add_json();
    if (!line.parse(arguments)) return success;
    best(Store(line.database(), Store::Access::read), read_filter(line), line.flag("json"), line.table_width());
    return success;
}

int trials_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "db trials",
                      .summary = "Show every trial, by device, problem and time.",
                      .examples = {{"smemtune db trials --sizes 4096 --templates tiled --rejected", ""}},
                      .notes = patterns});
    add_filters(line);
    line.add({.name = "rejected", .summary = "Only rejected trials."});
    line.add(
        {.name = "limit", .value = "N", .summary = "Show at most N trials, 0 for all. Default: 20, with --json all."});
    line.add({.name = "sort",
              .value = "BY",
              .summary = "Sort by time, by date (the latest first) or by trial number.",
              .default_value = "time",
              .choices = {"time", "date", "trial"}});
    line.add_wide();
    line.add_database();
    line.add_json();
    if (!line.parse(arguments)) return success;
    auto filter = read_filter(line);
    filter.rejected_only = line.flag("rejected");
    filter.sort = parse_sort(line.text("sort"));
    const bool json = line.flag("json");
    // JSON lists all rows by default, because a program reads it.
    const auto limit = line.has("limit") ? line.number("limit", 0, 1LL << 40) : json ? 0 : shown_trials;
    if (limit > 0) filter.limit = static_cast<std::size_t>(limit);
    trials(Store(line.database(), Store::Access::read), filter, json, line.table_width());
    return success;
}

int show_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, {.name = "db show",
                                           .summary = "Show all that is stored of one trial, by its number.",
                                           .words = "NUMBER",
                                           .examples = {{"smemtune db show 17", ""}}});
    line.add_wide();
    line.add_database();
    line.add_json();
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty()) throw UsageError("db show needs a trial's number; see 'smemtune db trials'");
    const auto& word = line.words().front();
    std::int64_t id = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), id).ptr != word.data() + word.size()) {
        throw UsageError("db show '" + word + "': not a trial's number; see 'smemtune db trials'");
    }
    show(Store(line.database(), Store::Access::read), id, line.flag("json"), line.table_width());
    return success;
}

int verify_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "db verify",
                      .summary = "Read the whole database and list damaged rows. Exit code 4 if there are any.",
                      .examples = {{"smemtune db verify", ""}},
                      .notes = "Machine code and templates are compared with their SHA-256. No application loads what "
                               "differs. Tuning the same problems with the same templates again makes them anew."
                               " What belongs to an earlier version of a template stays as it is."});
    line.add_database();
    line.add_json();
    if (!line.parse(arguments)) return success;
    const auto damages = Store(line.database(), Store::Access::read).damages();
    const int result = damages.empty() ? success : bad_database;
    if (line.flag("json")) {
        auto list = nlohmann::json::array();
        for (const auto& [row, reason] : damages) list.push_back({{"row", row}, {"reason", reason}});
        print_json("db verify", {{"damaged", list}});
        return result;
    }
    for (const auto& [row, reason] : damages) fmt::print("{}: {}\n", row, reason);
    fmt::print("{}\n", damages.empty() ? "no row is damaged" : fmt::format("{} damaged", damages.size()));
    return result;
}

constexpr std::array subcommands{
    Command{"list", "Show what the database holds. The default.", list_command},
    Command{"best", "Show the winner of each problem on each device.", best_command},
    Command{"trials", "Show every trial, by device, problem and time.", trials_command},
    Command{"show", "Show all that is stored of one trial.", show_command},
    Command{"verify", "List the rows that are damaged.", verify_command},
};

CommandLine overview(const ProcessEnvironment& process_environment) {
    CommandHelp help{.name = "db",
                     .summary =
                         "Look into the tuning database. It is one SQLite file, which sqlite3 reads as well: "
                         "sqlite3 FILE 'select * from best'.",
                     .words = "[COMMAND]",
                     .examples = {{"smemtune db best", ""},
                                  {"smemtune db trials --sizes 4096 --templates tiled", ""},
                                  {"smemtune db show 17", ""}},
                     .notes = "'smemtune help db COMMAND' shows a command's options."};
    for (const auto& [name, summary, function] : subcommands) help.commands.push_back({name, summary});
    CommandLine line(process_environment, help);
    add_filters(line);
    line.add_wide();
    line.add_database();
    line.add_json();
    return line;
}

}  // namespace

std::span<const Command> database_commands() { return subcommands; }

int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    if (!arguments.empty() && !arguments[0].starts_with('-')) {
        std::vector<std::string> known;
        for (const auto& [name, summary, function] : subcommands) {
            known.emplace_back(name);
            if (name == arguments[0]) return function({arguments.begin() + 1, arguments.end()}, process_environment);
        }
        check_known("db", arguments[0], known);
    }
    auto line = overview(process_environment);
    if (!line.parse(arguments)) return success;
    return list_command(arguments, process_environment);
}

}  // namespace smemtune
