// smemtune db: shows the content of the tuning database.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "db/store.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/report/database_report.h"
#include "tuner/report/stored/csv.h"

namespace smemtune {

namespace {

constexpr long long shown_trials = 20;

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

// Marks trials that are not of the present version of their template: the one in a folder of --templates, or else the
// one with the latest trials.
void mark_other_versions(const Store& store, const CommandLine& line, std::span<TrialFacts> trials) {
    const auto others = store.versions_with_later_ones();
    const auto present = templates_of_folders(line);
    for (auto& trial : trials) {
        const auto kernel = std::ranges::find(present, trial.row.kernel_template, &KernelTemplate::name);
        trial.is_other_version = kernel != present.end()
                                     ? !kernel->is_same_code(trial.row.template_hash)
                                     : std::ranges::count(others, trial.row.record.key.kernel_template) > 0;
    }
}

nlohmann::json list_json(std::span<const TrialFacts> trials) {
    auto list = nlohmann::json::array();
    for (const auto& trial : trials) list.push_back(trial_json(trial));
    return list;
}

void list(const Store& store, const Store::Filter& filter, OutputFormat format, std::size_t width) {
    const auto summary = store.summary();
    const auto inventory = store.inventory(filter);
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(summary.path, ignored);
    if (format == OutputFormat::json) return print_json_document("db list", inventory_json(summary, bytes, inventory));
    if (format == OutputFormat::csv) {
        fmt::print("{}", csv_text(inventory_rows(inventory)));
        return;
    }
    fmt::print("{}", inventory_text(summary, bytes, inventory, width));
}

void best(const CommandLine& line, const Store& store, Store::Filter filter) {
    const auto format = read_output_format(line);
    filter.best_only = true;
    auto winners = read_all(store, store.rows(filter));
    mark_other_versions(store, line, winners);
    if (format == OutputFormat::json) return print_json_document("db best", {{"winners", list_json(winners)}});
    fmt::print("{}",
               format == OutputFormat::csv ? csv_text(list_json(winners)) : best_text(winners, line.table_width()));
    const auto others = std::ranges::count_if(winners, &TrialFacts::is_other_version);
    if (others > 0) {
        fmt::print(
            stderr,
            "{} of another version of its template than the present one, and is not served with the present one; "
            "tune the size again\n",
            others == 1 ? "1 winner is" : fmt::format("each of {} winners is", others));
    }
    if (winners.empty()) complain_of_nothing(line, store, filter);
}

void trials(const CommandLine& line, const ShownDatabase& database, const Store::Filter& filter) {
    const auto& store = database.store();
    const auto format = read_output_format(line);
    const auto found = read_all(store, store.rows(filter));
    const auto more = store.count(filter) - found.size() - database.damages();
    if (format == OutputFormat::json)
        return print_json_document("db trials", {{"trials", list_json(found)}, {"more", more}});
    fmt::print("{}",
               format == OutputFormat::csv ? csv_text(list_json(found)) : trials_text(found, more, line.table_width()));
    if (found.empty()) complain_of_nothing(line, store, filter);
}

void show(const CommandLine& line, std::int64_t id) {
    const Store store(line.database(), Store::Access::read);
    auto row = store.row(id);
    if (!row) throw UsageError(fmt::format("there is no trial {}; see {}", id, line.proposed("db trials")));
    const auto trial = TrialReader(store).read(std::move(*row));
    const auto run = store.recall_run(trial.row.record.run);
    if (line.flag("json")) {
        auto content = trial_json(trial);
        if (run) content["run"] = run_json(*run);
        return print_json_document("db show", std::move(content));
    }
    fmt::print("{}", trial_text(trial, run ? &*run : nullptr, line.table_width()));
}

int list_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, {.name = "db list",
                                           .summary = "Show what the database holds.",
                                           .examples = {{"smemtune db list", ""}},
                                           .notes = database_patterns});
    add_database_filters(line);
    line.add_database();
    add_output_formats(line);
    if (!line.parse(arguments)) return success;
    list(Store(line.database(), Store::Access::read), read_database_filter(line), read_output_format(line),
         line.table_width());
    return success;
}

int best_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, {.name = "db best",
                                           .summary = "Show the winner of each problem on each device.",
                                           .examples = {{"smemtune db best --sizes 512..8192", ""}},
                                           .notes = database_patterns});
    add_database_filters(line);
    line.add_database();
    add_output_formats(line);
    if (!line.parse(arguments)) return success;
    const ShownDatabase database(line.database());
    best(line, database.store(), read_database_filter(line));
    return database.result();
}

int trials_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "db trials",
                      .summary = "Show every trial, by device, problem and time.",
                      .examples = {{"smemtune db trials --sizes 4096 --templates tiled --rejected", ""}},
                      .notes = database_patterns});
    add_database_filters(line);
    line.add({.name = "rejected", .summary = "Only rejected trials."});
    line.add({.name = "limit",
              .value = "N",
              .summary = "Show at most N trials; 0 shows all. Default: 20; all with --json or --csv."});
    line.add({.name = "sort",
              .value = "BY",
              .summary = "Sort by time, by date (the latest first) or by trial number.",
              .default_value = "time",
              .choices = {"time", "date", "trial"}});
    line.add_database();
    add_output_formats(line);
    if (!line.parse(arguments)) return success;
    auto filter = read_database_filter(line);
    filter.rejected_only = line.flag("rejected");
    filter.sort = parse_sort(line.text("sort"));
    const auto format = read_output_format(line);
    // JSON and CSV list all rows by default, because programs read these formats.
    const auto limit = line.has("limit")              ? line.number("limit", 0, 1LL << 40)
                       : format == OutputFormat::text ? shown_trials
                                                      : 0;
    if (limit > 0) filter.limit = static_cast<std::size_t>(limit);
    const ShownDatabase database(line.database());
    trials(line, database, filter);
    return database.result();
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
    if (line.words().empty()) throw UsageError("db show needs a trial's number; see " + line.proposed("db trials"));
    const auto& word = line.words().front();
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
        throw UsageError("db show '" + word + "': not a trial's number; see " + line.proposed("db trials"));
    }
    show(line, id);
    return success;
}

int verify_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "db verify",
                      .summary = "Read the whole database and list damaged rows. Exit code 4 if there are any.",
                      .examples = {{"smemtune db verify", ""}},
                      .notes = "Compares machine code and templates with their stored SHA-256. No application loads a "
                               "row that differs. Also finds rows that cannot be read, times that no launch can take, "
                               "extents that are not positive, and identities of another form. To replace damaged "
                               "rows, tune the same problems with the same "
                               "templates again. This does not replace rows of earlier versions of a template."});
    line.add_database();
    line.add_json();
    if (!line.parse(arguments)) return success;
    const auto damages = Store(line.database(), Store::Access::read).damages();
    const int result = damages.empty() ? success : bad_database;
    if (line.flag("json")) {
        auto list = nlohmann::json::array();
        for (const auto& [row, reason, remedy] : damages) {
            list.push_back({{"row", row}, {"reason", reason}, {"remedy", remedy}});
        }
        print_json_document("db verify", {{"damaged", list}});
        return result;
    }
    for (const auto& [row, reason, remedy] : damages) fmt::print("{}: {}; {}\n", row, reason, remedy);
    fmt::print("{}\n", damages.empty() ? "no row is damaged" : fmt::format("{} damaged", damages.size()));
    return result;
}

constexpr std::array subcommands{
    Command{"list", "Show what the database holds. The default.", list_command},
    Command{"best", "Show the winner of each problem on each device.", best_command},
    Command{"trials", "Show every trial, by device, problem and time.", trials_command},
    Command{"show", "Show all that is stored of one trial.", show_command},
    Command{"compare", "Compare the winners of two databases.", database_compare_command},
    Command{"importance", "Show which parameters decide the speed.", database_importance_command},
    Command{"convergence", "Show how fast searches came near the best time.", database_convergence_command},
    Command{"merge", "Merge the databases of several machines.", database_merge_command},
    Command{"verify", "List the rows that are damaged.", verify_command},
    Command{"export", "Write winners and portfolios to a new database or as text, or trials for other programs.",
            database_export_command},
    Command{"convert", "Translate results between the formats of other autotuners.", database_convert_command},
    Command{"compile", "Compile portfolios that are kept as text.", database_compile_command},
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
    add_database_filters(line);
    line.add_database();
    add_output_formats(line);
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
