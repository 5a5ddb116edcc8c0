// smemtune simulate: searches replayed over a recorded landscape, with no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "tuner/commands/command.h"
#include "tuner/replay/simulate.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"
#include "tuner/search/search.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    R"(smemtune simulate: replay searches over a recorded landscape, to see how many evaluations each needs. No GPU.

  smemtune simulate --landscape cache.json.gz
  smemtune simulate --landscape cache.json --compare --evaluations 500
  smemtune simulate --landscape tuning.db --template joint_tiled --size 4096 --search random
  smemtune simulate --landscape rtx3090.json.gz --start-from rtx2080ti.json.gz --compare

A landscape is a cache file of Kernel Tuner, packed by gzip or not, or a database of smemtune. It should hold every
configuration of its space, as an exhaustive search leaves it. The space of the replay is what it lists; a configuration
that failed when it was recorded fails again, and costs an evaluation like any other.

columns
  to 90 %, 95 %, 99 %   median over the repeats of the evaluations until the best so far reached that fraction of the
                        optimum (optimum / best); '-' when half of the repeats or more never got there
  never                 the repeats that never got there, of each level
  after 50, 100, 200    mean fraction of the optimum reached after as many evaluations; a failure counts as 0
  ends at, with         where a tuning run would end because further gain is unlikely (--patience): median of the
                        evaluations, mean fraction of the optimum, and how many repeats had less than 95 %
  us/eval               time inside the search itself per evaluation)";

struct Start {
    Landscape::Spelled configuration;
    std::size_t rank = 0;  // among the sibling's, 1 being its best
};

// The best of a sibling that is valid here.
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
    const auto& known = search_names();
    if (line.get<bool>("compare")) {
        if (line.has("search")) throw UsageError("--compare replays every search; leave --search out");
        auto every = known;
        std::erase(every, "auto");  // it is one of the others
        return every;
    }
    if (!line.has("search")) return {std::ranges::find(known, "auto") != known.end() ? "auto" : "random"};
    if (std::ranges::find(known, line.text("search")) == known.end()) {
        throw UsageError(fmt::format("search '{}' is unknown; known: {}", line.text("search"), fmt::join(known, " ")));
    }
    return {line.text("search")};
}

void print(const Landscape& landscape, const ReplayRequest& request, const std::optional<Start>& start,
           const std::vector<ReplayResult>& results) {
    const auto order = landscape.by_cost();
    fmt::print("{}, {} {}: {} configurations, {} of them failed\n", landscape.device, landscape.kernel,
               landscape.problem, landscape.costs.size(), landscape.costs.size() - order.size());
    fmt::print("optimum {:.4g} {}: {}\n", *landscape.costs[order.front()], landscape.objective,
               text_of(landscape.spelled((*landscape.space)[order.front()])));
    if (start) fmt::print("start, number {} of the sibling: {}\n", start->rank, text_of(start->configuration));
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

// Infinite and absent numbers are null: JSON has neither.
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
    line.add()("landscape", po::value<std::string>()->value_name("FILE"),
               "a cache file of Kernel Tuner or a database of smemtune");
    line.add()("search", po::value<std::string>()->value_name("NAME"),
               fmt::format("one of {}", fmt::join(search_names(), ", ")).c_str());
    line.add()("compare", po::bool_switch(), "every search, the best first by evaluations to 95 %");
    line.add()("evaluations", po::value<long long>()->default_value(1000)->value_name("N"),
               "configurations that a repeat tries at most");
    line.add()("repeats", po::value<long long>()->default_value(30)->value_name("N"),
               "with seeds N, N + 1, ...; on all cores, which changes none of the counts");
    line.add_seed("of the first repeat");
    line.add()("in-flight", po::value<long long>()->default_value(1)->value_name("N"),
               "proposals pending before the oldest is observed: how far compiling runs ahead");
    line.add()(
        "patience",
        po::value<long long>()->default_value(static_cast<long long>(StoppingPolicy{}.patience))->value_name("N"),
        "as of smemtune tune: evaluations in a row without gain before a run would end");
    line.add()("start-from", po::value<std::string>()->value_name("FILE"),
               "begin with the best configuration of another landscape that is valid in this one: a sibling GPU's");
    line.add()("device", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "of a database with several devices: the one whose name has TEXT");
    line.add()("start-device", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "likewise for --start-from");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("NAME"), "likewise for templates");
    line.add()("size", po::value<std::string>()->default_value("")->value_name("MxNxK"), "likewise for sizes");
    line.add_json();
}

}  // namespace

int simulate_command(const Arguments& arguments, const ProcessEnvironment&) {
    CommandLine line("simulate", usage);
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
    LandscapeFilter filter{line.text("device"), line.text("template"), line.text("size")};
    const auto landscape = read_landscape(line.text("landscape"), filter);
    std::optional<Start> start;
    if (line.has("start-from")) {
        filter.device = line.text("start-device");
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
    if (line.get<bool>("json")) {
        fmt::print("{}\n", json_text(document("simulate", to_json(landscape, request, start, results))));
    } else {
        print(landscape, request, start, results);
    }
    return success;
}

}  // namespace smemtune
