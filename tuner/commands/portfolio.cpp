// smemtune portfolio: finds a few configurations for all sizes of an operation. At any size, one of them should be near
// the best.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "db/store.h"
#include "runtime/compiler.h"
#include "runtime/fetch/trust.h"
#include "runtime/selection.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/interruption.h"
#include "tuner/cli/shell_text.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/portfolio/build.h"
#include "tuner/portfolio/check.h"
#include "tuner/portfolio/model/class_problem.h"
#include "tuner/portfolio/model/refit.h"
#include "tuner/portfolio/portfolio_report.h"
#include "tuner/report/json.h"
#include "tuner/report/progress.h"
#include "tuner/report/text.h"
#include "tuner/trial/sampling.h"
#include "tuner/worker/worker.h"

namespace smemtune {

namespace {

constexpr unsigned check_seed = 2;  // the default of --seed, for the sizes of --check

CommandLine portfolio_options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "portfolio",
         .summary =
             "Find a few configurations, the members, of which one is near the best at any size. An application then "
             "gets a fast kernel even at a size that was not tuned. The command tunes a sample of sizes, times the "
             "winners and members of shipped portfolios at these sizes, and chooses the members. It also fits a model "
             "of the time of each member. A fetch chooses a member by these models. The same command run again "
             "measures only what is new.",
         .examples = {{"smemtune portfolio --device 0", "For single-precision matrix products of any size."},
                      {"smemtune portfolio --shapes-from shapes.txt", "For the sizes of an application: a line each."},
                      {"smemtune portfolio --device 0 --layout nt --budget 5m", ""}},
         .notes =
             "A line of the file is a size and, if known, how often it is asked for: 4096x11008x128 200. The report "
             "gives the mean and the largest loss at sizes that were not used to build the portfolio. A loss is how "
             "much longer the chosen kernel takes than the best kernel known for the size."});
    line.add_device(
        "0, 1, ... for a GPU; host for the CPU; auto: the first GPU, or else the host. Equal devices share the work.",
        "auto", DeviceNames::several);
    line.add_operation("The operation to compute, such as batched_gemm; gemm unless --templates implies another.");
    line.add_type();
    line.add_layout("nn, nt, tn or tt: t says that A or B is stored transposed.");
    line.add_templates("The templates to use: names, or folders of your own, separated by commas. All by default.");
    line.add({.name = "shapes", .value = "N", .summary = "Draw N sizes at random.", .default_value = "200"});
    line.add({.name = "shapes-from", .value = "FILE", .summary = "Take the sizes from a file instead."});
    line.add({.name = "extents",
              .value = "LOW..HIGH",
              .summary = "The range of drawn extents; 16..12000 by default, and 8..64 on the host."});
    line.add({.name = "size", .value = "K", .summary = "The most members.", .default_value = "64"});
    line.add({.name = "evaluations",
              .value = "N",
              .summary = "Try at most N configurations for each size before all winners are timed there.",
              .default_value = "48"});
    line.add(
        {.name = "check",
         .value = "N",
         .summary =
             "Check the stored portfolio at N sizes drawn with --seed, instead of building one: compare the "
             "kernel that it serves at each size with the fastest kernel that was timed there. If this device has "
             "no portfolio, that of the most similar device is checked. The default seed is 2, so that the sizes "
             "differ from those of a portfolio that was built with the default seed. Afterwards, these sizes count "
             "as tuned, so name a copy of the database."});
    line.add({.name = "refit",
              .summary =
                  "Fit the models of the operation's stored portfolios again, to the stored times, instead of building "
                  "a portfolio. Use this after an update of smemtune that changes the terms of the models. No device "
                  "is needed."});
    line.add({.name = "searches",
              .value = "N",
              .summary = "Search at most N of the sizes that are not tuned yet, --evaluations each; as many as the "
                         "budget allows by default. 0: only time the configurations that earlier runs and the shipped "
                         "portfolios know. With --check: search the first N sizes, too; none by default."});
    line.add({.name = "budget", .value = "TIME", .summary = "Stop measuring after this time: 60s, 10m or 1h."});
    line.add_deadline();
    line.add({.name = "jobs",
              .value = "N",
              .summary = "Compile N configurations at once; one per core by default.",
              .letter = "j"});
    line.add_seed("Seed of drawn sizes, inputs and searches.");
    line.add_wide();
    line.add_database();
    line.add_trust();
    line.add_json();
    return line;
}

ExtentRange parse_range(const CommandLine& line, const Device& device) {
    if (!line.has("extents")) return device.is_host() ? ExtentRange{8, 64} : ExtentRange{};
    const auto& text = line.text("extents");
    ExtentRange range{0, 0};
    const auto dots = text.find("..");
    try {
        std::size_t end = 0;
        range.low = std::stoll(text, &end);
        if (end != dots) range.low = 0;
        range.high = std::stoll(text.substr(dots + 2), &end);
        if (end != text.size() - dots - 2) range.low = 0;
    } catch (const std::exception&) {
        range.low = 0;
    }
    if (range.low < 1 || range.high < range.low || range.high > 1'000'000) {
        throw UsageError("--extents " + text + " is no range from 1 to 1000000; write for example 16..12000");
    }
    return range;
}

// Reads at most 64 MiB, because the file may be a device that never ends.
std::string read_file(const std::string& path) {
    constexpr std::streamsize most = 64 << 20;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw UsageError("--shapes-from " + path + " cannot be read; check the path");
    std::string text(most + 1, '\0');
    file.read(text.data(), most + 1);
    if (file.gcount() > most)
        throw UsageError("--shapes-from " + path + " is larger than 64 MiB; name a file of sizes");
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::vector<Sample> read_samples(const CommandLine& line, const Operation& operation, const Device& device) {
    const auto& type = line.text("type");
    const auto& layout = line.text("layout");
    std::vector<Sample> samples;
    if (line.has("shapes-from")) {
        const auto& path = line.text("shapes-from");
        try {
            samples = parse_samples(read_file(path), operation, type, layout);
        } catch (const std::invalid_argument& error) {
            throw UsageError("--shapes-from " + path + ", " + error.what());
        }
        if (samples.empty()) throw UsageError("--shapes-from " + path + " holds no size; write one on each line");
    } else {
        samples = draw_samples(operation, type, layout,
                               static_cast<std::size_t>(line.number(line.has("check") ? "check" : "shapes", 1, 10'000)),
                               parse_range(line, device),
                               line.has("check") && !line.given("seed") ? check_seed : line.seed());
    }
    try {
        for (const auto& sample : samples) (void)environment_of(operation, sample.problem, device);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    return samples;
}

PortfolioRequest read_portfolio_request(const CommandLine& line, const Device& device) {
    PortfolioRequest request;
    request.templates = choose_templates(line).kernels;
    try {
        require_few_classes(request.templates.front().operation);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    request.samples = read_samples(line, request.templates.front().operation, device);
    std::erase_if(request.templates,
                  [&](const auto& kernel) { return !supports(kernel, request.samples.front().problem, device); });
    if (request.templates.empty()) {
        throw UsageError("no template can compute " + to_text(request.samples.front().problem) + " on " + device.name +
                         "; see 'smemtune templates'");
    }
    request.size = static_cast<std::size_t>(line.number("size", 1, 1000));
    request.evaluations = static_cast<std::size_t>(line.number("evaluations", 1, 1LL << 40));
    if (line.has("searches")) request.searches = static_cast<std::size_t>(line.number("searches", 0, 10'000));
    if (line.has("budget")) request.budget = parse_duration(line.text("budget"));
    request.jobs = line.has("jobs") ? static_cast<unsigned>(line.number("jobs", 1, 1024))
                                    : std::max(1U, std::thread::hardware_concurrency());
    request.seed = line.seed();
    request.text = nlohmann::json{
        {"portfolio", line.has("shapes-from") ? line.text("shapes-from") : line.text("shapes")},
        {"size", request.size},
        {"evaluations", request.evaluations},
        {"searches", request.searches ? nlohmann::json(*request.searches) : nlohmann::json()},
        {"type", line.text("type")},
        {"layout", line.text("layout")},
        {"seed",
         request.seed}}.dump();
    return request;
}

int no_portfolio(const CommandLine& line, const std::string& of) {
    fmt::print(stderr, "{} has no portfolio of {}; {} builds one on a device\n", line.database().string(), of,
               line.proposed("portfolio"));
    return nothing_found;
}

// If the database has no portfolio of the request that can be checked, says so and returns the exit code.
std::optional<int> missing_portfolio(const CommandLine& line, const PortfolioRequest& request, const Device& device) {
    const auto& like = request.samples.front().problem;
    const auto name = like.operation + " " + like.type + (like.layout.empty() ? "" : " " + like.layout);
    const Store store(line.database(), Store::Access::read);
    const auto used = device_of_portfolio(store, like, device);
    const auto outdated = store.outdated_portfolios();
    for (const auto& [row, stored] : store.devices()) {
        if (stored != device && (used || !is_similar(stored, device))) continue;
        if (std::ranges::count(outdated, PortfolioKey{row, like.operation, like.type, like.layout}) == 0) continue;
        throw UsageError(
            fmt::format("the models of the portfolio of {} in {} are of another version of smemtune; run "
                        "{}, which needs no device",
                        name, line.database().string(), command_for(line.database(), "portfolio --refit")));
    }
    return used ? std::nullopt : std::optional(no_portfolio(line, name + " on " + device.name));
}

int refit_command(const CommandLine& line, bool json) {
    if (line.has("check")) throw UsageError("--refit and --check exclude each other; choose one");
    const auto templates = choose_templates(line).kernels;
    const auto& operation = templates.front().operation.name;
    (void)Store(line.database(), Store::Access::read);  // throws if there is no database; the next line would make one
    Store store(line.database());
    const auto reports = refit_portfolios(store, operation, templates);
    if (reports.empty()) return no_portfolio(line, operation);
    for (const auto& report : reports) {
        fmt::print("{}\n",
                   json ? json_text(document("portfolio", to_json(report))) : to_text(report, line.table_width()));
    }
    return success;
}

CheckRequest check_request(const PortfolioRequest& request) {
    return {.samples = request.samples,
            .templates = request.templates,
            .searches = request.searches.value_or(0),
            .evaluations = request.evaluations,
            .budget = request.budget,
            .jobs = request.jobs,
            .seed = request.seed,
            .text = request.text};
}

}  // namespace

int portfolio_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = portfolio_options(process_environment);
    if (!line.parse(arguments)) return success;
    const bool json = line.flag("json");
    if (line.flag("refit")) return refit_command(line, json);
    // The trials run stored machine code of candidates.
    if (!line.flag("trust-any-owner") && std::filesystem::exists(line.database())) {
        require_trusted_database(line.database());
    }
    const auto style = json                          ? Progress::Style::silent
                       : process_environment.redraws ? Progress::Style::redrawn
                                                     : Progress::Style::lines;
    const auto groups = choose_devices(line.text("device"));
    if (groups.size() != 1) throw UsageError("--device names different kinds of devices; run 'portfolio' for each");
    const auto& [device, names] = groups.front();
    const auto request = read_portfolio_request(line, device);
    if (line.has("check")) {
        if (const auto code = missing_portfolio(line, request, device)) return *code;
    }
    const auto compiler = make_compiler(
        device, {.host_compiler = process_environment.host_compiler, .toolkits = process_environment.toolkits});
    (void)compiler->version();  // throws if there is no compiler, before the database is opened
    tell_fallback(line.text("device"), device, host_for_times);
    watch_for_interruption("\ninterrupted: finishing the trial in flight; interrupt again to stop at once\n");
    std::signal(SIGPIPE, SIG_IGN);

    Store store(database_to_write(line));
    // Low precision is enough, because configurations that differ by less than a few percent are equally good members.
    const SamplingPolicy sampling{.batch_us = 1000, .most_samples = 5, .steady_spread = 0.01};
    std::vector<std::unique_ptr<Worker>> workers;
    TuneResources resources{device, *compiler, store, {}, sampling, interrupted()};
    for (const auto& name : names) {
        WorkerOptions options{
            .executable = process_environment.executable, .device = name, .seed = request.seed, .sampling = sampling};
        set_deadlines(options, parse_duration(line.text("deadline")), request.templates.front().operation);
        workers.push_back(std::make_unique<Worker>(std::move(options)));
        resources.workers.push_back(workers.back().get());
    }
    PortfolioReport report;
    {
        Progress progress(stderr, style, {.sizes = request.samples.size(), .budget = request.budget});
        report = line.has("check") ? check_portfolio(check_request(request), resources, progress)
                                   : build_portfolio(request, resources, progress);
    }
    if (report.ended == "interrupted") {
        fmt::print(stderr, "interrupted: everything timed is stored; run the same command to go on\n");
        return interrupted_by_user;
    }
    if (json) {
        fmt::print("{}\n", json_text(document("portfolio", to_json(report))));
    } else {
        fmt::print("{}", to_text(report, line.table_width()));
    }
    if (report.configurations == 0 && request.searches == std::size_t{0}) {
        fmt::print(stderr, "no configuration is known that compiles, so this run needs --searches of 1 or more\n");
    } else if (report.configurations == 0) {
        fmt::print(stderr, "{}", report.invalid);
    }
    if (report.ended == "budget") fmt::print(stderr, "the budget is spent; run the same command to go on\n");
    return report.members.empty() ? nothing_found : success;
}

}  // namespace smemtune
