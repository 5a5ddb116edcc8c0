// smemtune simulate: replays searches over a recorded landscape, without a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/shell_text.h"
#include "tuner/commands/command.h"
#include "tuner/replay/simulate.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"
#include "tuner/search/search.h"

namespace smemtune {

namespace {

const CommandHelp help{
    .name = "simulate",
    .summary =
        "Replay searches over a recorded landscape, to see how many evaluations each needs. No GPU is needed. A "
        "landscape is a cache file of Kernel Tuner, packed by gzip or not, or a database of smemtune that holds "
        "every valid configuration of a template, as '--search exhaustive' leaves it.",
    .examples = {{"smemtune simulate --landscape cache.json.gz --compare", "Every search."},
                 {"smemtune simulate --landscape tuning.db --templates tiled --sizes 4096", ""},
                 {"smemtune simulate --landscape rtx3090.json.gz --start-from rtx2080ti.json.gz", ""}},
    .columns = {{"to 90 %, 95 %, 99 %",
                 "Median of the evaluations until the best so far reached that fraction of the "
                 "optimum (optimum / best); - when half of the repeats or more never did."},
                {"never", "The repeats that never reached it, for each of the three."},
                {"after 50, 100, 200",
                 "Mean fraction of the optimum after so many evaluations; a failure counts as 0."},
                {"ends at, with, short",
                 "Where a tuning run would end because further gain is unlikely (--patience): median of the "
                 "evaluations, mean fraction of the optimum, and the number of repeats with less than 95 %."},
                {"us/eval", "Time inside the search itself for each evaluation."}},
    .notes =
        "The space of a replay consists of the recorded configurations. A configuration that failed when it was "
        "recorded fails again, and costs an evaluation like any other."};

struct Start {
    Landscape::Spelled configuration;
    std::size_t rank = 0;  // rank in the landscape of --start-from; 1 is the best
};

// Returns the best configuration of `sibling`, the landscape of --start-from, that is valid in `landscape`.
Start start_from(const Landscape& sibling, const Landscape& landscape, const std::string& file) {
    std::size_t rank = 0;
    for (const auto index : sibling.by_cost()) {
        ++rank;
        auto spelled = sibling.spelled((*sibling.space)[index]);
        if (landscape.configuration(spelled)) return {std::move(spelled), rank};
    }
    throw UsageError(file + ": none of its configurations is in the space of the landscape; is it the same kernel?");
}

std::string text_of(const Landscape::Spelled& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration) text += (text.empty() ? "" : ",") + name + "=" + value;
    return text;
}

std::vector<std::string> searches_of(const CommandLine& line) {
    if (!line.flag("compare")) return {line.text("search")};
    if (line.given("search")) throw UsageError("--compare replays every search; leave --search out");
    auto every = search_names();
    std::erase(every, "auto");  // `auto` is another name for a search that is in the list already
    return every;
}

// The command that records all configurations of the landscape.
std::string exhaustive_command(const Landscape& landscape, const std::string& file) {
    // The words of a problem are its operation, its type, its layout (if the operation has layouts) and its size.
    const auto words = split(landscape.problem, ' ');
    const auto layout = words.size() == 4 && words[2] != "nn" ? " --layout " + words[2] : "";
    return "smemtune --search exhaustive --templates " + landscape.kernel + " --sizes " + words.back() + layout +
           " --db " + shell_word(file);
}

// Says how many of the valid configurations the database `file` has. Empty if the database has all of them.
std::string missing_part(const Landscape& landscape, const std::string& file) {
    const auto of = landscape.kernel + " for " + landscape.problem;
    if (!landscape.valid) {
        return fmt::format(
            "{} holds {} configurations of {}, but its template cannot be read, so the number of valid "
            "configurations is unknown",
            file, count_text(landscape.costs.size()), of);
    }
    if (landscape.tried >= *landscape.valid) return {};
    return fmt::format("{} holds {} of the {} valid configurations of {}", file, count_text(landscape.tried),
                       count_text(*landscape.valid), of);
}

// Throws UsageError if the database `file` lacks valid configurations. If `partial` is true, prints a warning instead.
// An incomplete database mostly has configurations that its own search preferred, so other searches would be at a
// disadvantage. A cache of Kernel Tuner does not say whether it is complete, and is accepted.
void check_complete(const Landscape& landscape, const std::string& file, bool partial) {
    const auto part = landscape.of_database ? missing_part(landscape, file) : "";
    if (part.empty()) return;
    if (partial) {
        fmt::print(stderr, "{}: the figures rank searches on this part only\n", part);
        return;
    }
    throw UsageError(part + ": the trials of a search, not a landscape. Record all with '" +
                     exhaustive_command(landscape, file) + "', or replay this part with --partial");
}

void print(const Landscape& landscape, const ReplayRequest& request, const std::optional<Start>& start,
           const std::vector<ReplayResult>& results) {
    const auto order = landscape.by_cost();
    fmt::print("{}, {} {}: {} configurations, {} of them failed\n", landscape.device, landscape.kernel,
               landscape.problem, count_text(landscape.costs.size()),
               count_text(landscape.costs.size() - order.size()));
    fmt::print("optimum {:.4g} {}: {}\n", *landscape.costs[order.front()], landscape.objective,
               text_of(landscape.spelled((*landscape.space)[order.front()])));
    if (start) fmt::print("start, rank {} in --start-from: {}\n", start->rank, text_of(start->configuration));
    fmt::print("{} repeats of at most {} evaluations, seeds from {}, {} in flight\n\n", request.repeats,
               request.evaluations, request.seed, request.in_flight);
    const auto& first = results.front();
    std::vector<std::string> header{"search"};
    for (const auto& level : first.levels) header.push_back(fmt::format("to {:.0f} %", level.fraction * 100));
    header.emplace_back("never");
    for (const auto& mark : first.marks) header.push_back(fmt::format("after {}", mark.evaluations));
    for (const auto* last : {"ends at", "with", "short", "us/eval"}) header.emplace_back(last);
    std::vector<std::vector<std::string>> rows{header};
    for (const auto& result : results) {
        auto& row = rows.emplace_back(std::vector{result.search});
        std::string never;
        for (const auto& level : result.levels) {
            row.push_back(std::isinf(level.median) ? "-" : fmt::format("{:g}", level.median));
            never += (never.empty() ? "" : "/") + std::to_string(level.never);
        }
        row.push_back(never);
        for (const auto& mark : result.marks) {
            row.push_back(std::isnan(mark.fraction) ? "-" : fmt::format("{:.3f}", mark.fraction));
        }
        row.push_back(fmt::format("{:g}", result.ending.evaluations));
        row.push_back(fmt::format("{:.3f}", result.ending.fraction));
        row.push_back(std::to_string(result.ending.short_of));
        row.push_back(fmt::format("{:.2f}", result.us_per_evaluation));
    }
    fmt::print("{}", table(rows));
}

// Converts a number. Infinity and NaN become null, because JSON has neither.
nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

nlohmann::json to_json(const ReplayResult& result) {
    nlohmann::json json{{"search", result.search},
                        {"evaluations", result.evaluations},
                        {"us_per_evaluation", result.us_per_evaluation},
                        {"ending",
                         {{"evaluations", result.ending.evaluations},
                          {"fraction", result.ending.fraction},
                          {"short_of_95", result.ending.short_of}}}};
    for (const auto& level : result.levels) {
        const auto percent = fmt::format("{:.0f}", level.fraction * 100);
        json["evaluations_to_percent"][percent] = number(level.median);
        json["never_reached_percent"][percent] = level.never;
    }
    for (const auto& mark : result.marks) {
        json["fraction_after"][std::to_string(mark.evaluations)] = number(mark.fraction);
    }
    return json;
}

nlohmann::json to_json(const Landscape& landscape, const ReplayRequest& request, const std::optional<Start>& start,
                       const std::vector<ReplayResult>& results) {
    const auto order = landscape.by_cost();
    nlohmann::json json{{"device_name", landscape.device},
                        {"template", landscape.kernel},
                        {"problem", landscape.problem},
                        {"objective", landscape.objective},
                        {"configurations", landscape.costs.size()},
                        {"failed", landscape.costs.size() - order.size()},
                        {"optimum",
                         {{"cost", *landscape.costs[order.front()]},
                          {"configuration", landscape.spelled((*landscape.space)[order.front()])}}},
                        {"evaluations", request.evaluations},
                        {"repeats", request.repeats},
                        {"seed", request.seed},
                        {"in_flight", request.in_flight},
                        {"searches", nlohmann::json::array()}};
    if (start) json["start"] = {{"configuration", start->configuration}, {"rank_in_sibling", start->rank}};
    for (const auto& result : results) json["searches"].push_back(to_json(result));
    return json;
}

void add_options(CommandLine& line) {
    line.add(
        {.name = "landscape", .value = "FILE", .summary = "A cache file of Kernel Tuner or a database of smemtune."});
    line.add_device("Of a database with several devices: 0, 1, ..., host, or a name as in 'smemtune db list'.", "",
                    DeviceNames::stored);
    line.add_templates("Of a database with several templates: the name of one.");
    line.add_sizes("Of a database with several sizes: one of them.", "");
    line.add_operation("Of a database with several operations: one of them.");
    line.add_layout("Of a database with several layouts: nn, nt, tn or tt.", "");
    line.add({.name = "partial", .summary = "Replay an incomplete recording all the same."});
    line.add({.name = "search",
              .value = "S",
              .summary = "The search to replay.",
              .default_value = "auto",
              .choices = search_names()});
    line.add({.name = "compare", .summary = "Replay every search; the best first, by evaluations to 95 %."});
    line.add({.name = "evaluations",
              .value = "N",
              .summary = "The most configurations that a repeat tries.",
              .default_value = "1000"});
    line.add({.name = "repeats",
              .value = "N",
              .summary = "The number of repeats, each with its own seed. They run on all cores.",
              .default_value = "30"});
    line.add_seed("Seed of the first repeat; the next ones count up.");
    line.add({.name = "in-flight",
              .value = "N",
              .summary = "The number of proposals that are pending at a time, as if they were being compiled.",
              .default_value = "1"});
    line.add({.name = "patience",
              .value = "N",
              .summary = "As for 'smemtune tune': a run would end after N evaluations in a row without gain.",
              .default_value = std::to_string(StoppingPolicy{}.patience)});
    line.add({.name = "start-from",
              .value = "FILE",
              .summary =
                  "Begin with the best configuration of another landscape, such as a similar GPU's, that is valid "
                  "in this one."});
    line.add({.name = "start-device",
              .value = "D",
              .summary = "--device of that landscape.",
              .default_value = "",
              .proposals = {"host", "0", "1"}});
    line.add_json();
}

}  // namespace

int simulate_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment, help);
    add_options(line);
    if (!line.parse(arguments)) return success;
    if (!line.has("landscape")) {
        throw UsageError("simulate needs --landscape FILE, a cache file of Kernel Tuner or a database of smemtune");
    }
    ReplayRequest request{.evaluations = static_cast<std::size_t>(line.number("evaluations", 1, 1'000'000'000)),
                          .repeats = static_cast<unsigned>(line.number("repeats", 1, 1'000'000)),
                          .seed = line.seed(),
                          .in_flight = static_cast<std::size_t>(line.number("in-flight", 1, 1'000'000)),
                          .stopping = {.patience = static_cast<std::size_t>(line.number("patience", 1, 1'000'000))},
                          .threads = std::max(1U, std::thread::hardware_concurrency())};
    const auto searches = searches_of(line);
    const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
    LandscapeFilter filter{stored_devices(line.text("device")), split(templates, ','),
                           stored_sizes(line.text("sizes"), known_size_forms(line.text("operation"))),
                           split(line.text("operation"), ','), line.text("layout")};
    const auto landscape = read_landscape(line.text("landscape"), filter);
    check_complete(landscape, line.text("landscape"), line.flag("partial"));
    std::optional<Start> start;
    if (line.has("start-from")) {
        filter.devices = stored_devices(line.text("start-device"));
        const auto& file = line.text("start-from");
        start = start_from(read_landscape(file, filter), landscape, file);
        request.starts = {landscape.configuration(start->configuration).value()};
    }
    std::vector<ReplayResult> results;
    for (const auto& search : searches) {
        request.search = search;
        results.push_back(replay(landscape, request));
    }
    std::ranges::stable_sort(results, better);
    if (line.flag("json")) {
        fmt::print("{}\n", json_text(document("simulate", to_json(landscape, request, start, results))));
    } else {
        print(landscape, request, start, results);
    }
    return success;
}

}  // namespace smemtune
