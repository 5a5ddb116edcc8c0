// smemtune db: a look into the tuning database.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "db/store.h"
#include "tuner/commands/command.h"
#include "tuner/report/database_report.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

constexpr long long shown_trials = 20;

void print_json(const char* command, nlohmann::json content) {
    fmt::print("{}\n", json_text(document(command, std::move(content))));
}

Store::Filter::Sort parse_sort(const std::string& text) {
    using Sort = Store::Filter::Sort;
    if (text == "time") return Sort::time;
    if (text == "date") return Sort::date;
    if (text == "trial") return Sort::id;
    throw UsageError("--sort '" + text + "' is unknown; known: time date trial");
}

std::vector<TrialFacts> read_all(const Store& store, std::vector<TrialRow> rows) {
    TrialReader reader(store);
    std::vector<TrialFacts> facts;
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
    if (winners.empty()) fmt::print(stderr, "nothing there matches; see 'smemtune db list'\n");
}

void trials(const Store& store, const Store::Filter& filter, bool json, std::size_t width) {
    const auto found = read_all(store, store.rows(filter));
    const auto more = store.count(filter) - found.size();
    if (json) return print_json("db trials", {{"trials", list_json(found)}, {"more", more}});
    fmt::print("{}", trials_text(found, more, width));
    if (found.empty()) fmt::print(stderr, "nothing there matches; see 'smemtune db list'\n");
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

}  // namespace

int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line("db",
                     "smemtune db list|show|best|trials: look into the tuning database.\n\n"
                     "  smemtune db list                     what it holds\n"
                     "  smemtune db best                     the winner of every problem\n"
                     "  smemtune db trials --size 4096 --template tiled --rejected\n"
                     "  smemtune db show 17                  one trial, everything known of it\n\n"
                     "It is one SQLite file; sqlite3 FILE 'select * from best' reads it as well.");
    line.add()("what", po::value<std::string>()->default_value("list"), "list, best, trials or show");
    line.add()("id", po::value<long long>(), "of a trial, for show");
    line.add()("device", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "only devices whose name has TEXT");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("TEXT"), "likewise for templates");
    line.add()("size", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "likewise for sizes such as 4096x4096x4096");
    line.add()("operation", po::value<std::string>()->default_value("")->value_name("TEXT"), "likewise for operations");
    line.add()("rejected", po::bool_switch(), "only rejected trials");
    line.add()("limit", po::value<long long>()->value_name("N"),
               "of trials: at most N, 20 by default, with --json all; 0 for all");
    line.add()("sort", po::value<std::string>()->default_value("time")->value_name("BY"),
               "of trials: time, date (the latest first) or trial (the first first)");
    line.add()("wide", po::bool_switch(), "tables as wide as they need, whatever the terminal's width");
    line.add_database(process_environment);
    line.add_json();
    line.positional({"what", "id"});
    if (!line.parse(arguments)) return success;
    const auto& what = line.text("what");
    if (what != "list" && what != "best" && what != "trials" && what != "show") {
        throw UsageError("db '" + what + "' is none of list, show, best, trials");
    }
    if (what != "show" && line.has("id")) throw UsageError("db " + what + " takes no number; see 'smemtune db --help'");
    if (what == "show" && !line.has("id")) throw UsageError("db show needs a trial's number; see 'smemtune db trials'");
    const Store store(line.database(), Store::Access::read);
    const bool json = line.get<bool>("json");
    const auto width = line.get<bool>("wide") ? 0 : process_environment.output_width;
    if (what == "show") {
        show(store, line.get<long long>("id"), json, width);
        return success;
    }
    Store::Filter filter{.device = line.text("device"),
                         .kernel_template = line.text("template"),
                         .size = line.text("size"),
                         .operation = line.text("operation"),
                         .rejected_only = line.get<bool>("rejected")};
    if (what == "list") list(store, filter, json, width);
    if (what == "best") best(store, filter, json, width);
    if (what == "trials") {
        // A program that reads JSON takes all of it.
        const auto limit = line.has("limit") ? line.number("limit", 0, 1LL << 40) : json ? 0 : shown_trials;
        if (limit > 0) filter.limit = static_cast<std::size_t>(limit);
        filter.sort = parse_sort(line.text("sort"));
        trials(store, filter, json, width);
    }
    return success;
}

}  // namespace smemtune
