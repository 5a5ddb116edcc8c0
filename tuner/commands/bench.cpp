// smemtune bench: compares our winners with vendor libraries, other databases and earlier figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "db/store.h"
#include "runtime/inspector.h"
#include "templates/manifest/catalog.h"
#include "tuner/bench/baselines.h"
#include "tuner/bench/bench_report.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/interruption.h"
#include "tuner/cli/shell_text.h"
#include "tuner/commands/command.h"
#include "tuner/portfolio/samples.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"
#include "tuner/worker/kernel_output.h"
#include "tuner/worker/watchdog.h"

namespace smemtune {

namespace {

CommandLine bench_options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "bench",
         .summary =
             "Time the stored winners and cuBLAS alternately, in one process. One batch of each gives one ratio of "
             "times. The result is the median of the ratios, with its 95 % confidence interval. Every kernel is "
             "verified before it is compared.",
         .examples = {{"smemtune bench", "All winners of this device against cublas and cublaslt."},
                      {"smemtune bench --sizes 512..8192 --json FILE.json",
                       "For the record: the file also holds this command, versions and device."},
                      {"smemtune bench --against other.db", "Against the winners of another database."},
                      {"smemtune bench --against cublas,earlier.json",
                       "Also shows what changed by more than noise since then."}}});
    line.add_device("0, 1, ... for a GPU; host for the CPU; auto: the first GPU, or else the host.");
    line.add_sizes(
        "As for 'smemtune tune': 512..8192, 1000,4095, 4096x11008x128, or 16x512x512x512 of batched_gemm; stored: "
        "every problem with a winner on this device.",
        "stored");
    line.add_operation("The operation to compare; gemm unless --templates implies another.");
    line.add_type();
    line.add_layout("nn, nt, tn or tt. Default: nn; every layout with '--sizes stored'.", "");
    line.add_templates(
        "Compare the best configuration of these templates: names, or folders of your own, separated by "
        "commas. All by default.");
    line.add({.name = "served",
              .summary =
                  "Compare the kernels that a fetch returns to an application, instead of the stored winners. The "
                  "sizes of --shapes or --sizes need not be tuned."});
    line.add({.name = "shapes",
              .value = "N",
              .summary = "With --served: N sizes drawn with --seed, each extent from 16 to 12000."});
    line.add({.name = "against",
              .value = "LIST",
              .summary =
                  "cublas: the kernel that cuBLAS chooses by itself. cublaslt: the fastest of its heuristic's "
                  "proposals. FILE.db: another database. FILE.json: an earlier comparison, whose ratios are compared "
                  "with the new ones.",
              .default_value = "cublas,cublaslt",
              .proposals = {"cublas", "cublaslt"},
              .list = true,
              .paths = Paths::files});
    line.add({.name = "proposals",
              .value = "N",
              .summary = "Time at most N proposals of cublaslt's heuristic.",
              .default_value = "64"});
    line.add({.name = "cache",
              .value = "C",
              .summary =
                  "cold: launches rotate through up to 64 sets of operands, which together take twice the L2 cache. "
                  "warm: all launches use the same set. both: cold, and also warm if there are several sets.",
              .default_value = "both",
              .choices = {"cold", "warm", "both"}});
    line.add({.name = "pairs",
              .value = "N",
              .summary = "Time at least N pairs (6 or more), and at most 4 N. In between, stop when the interval is "
                         "narrower than half a percent of the ratio.",
              .default_value = "30"});
    line.add_step_deadline();
    line.add_seed("Seed of the inputs.");
    line.add_wide();
    line.add_database();
    line.add_trust();
    line.add({.name = "json",
              .value = "FILE",
              .summary =
                  "Write the results and their provenance to FILE as JSON. Without FILE, print JSON on standard output "
                  "instead of text.",
              .implicit = "-"});
    return line;
}

std::vector<Cache> parse_cache(const std::string& text) {
    if (text == "cold") return {Cache::cold};
    if (text == "warm") return {Cache::warm};
    return {Cache::cold, Cache::warm};
}

std::size_t read_pairs(const CommandLine& line) {
    const auto pairs = line.number("pairs", 0, 10'000);
    if (pairs < static_cast<long long>(least_for_interval)) {
        throw UsageError(
            fmt::format("--pairs {} give no interval of 95 % confidence; take {} or more", pairs, least_for_interval));
    }
    return static_cast<std::size_t>(pairs);
}

// Throws UsageError if `file` cannot be written or is a database. Called before the measurement, so that its results
// are not lost.
void check_writable(const std::filesystem::path& file) {
    require_no_database(file);
    std::error_code ignored;
    const bool there = std::filesystem::exists(file, ignored);
    if (!std::ofstream(file, std::ios::app)) throw UsageError("--json " + file.string() + " cannot be written");
    if (!there) std::filesystem::remove(file, ignored);
}

// Removes folders from a file's path, because the report may be published: `a,/home/b.db` becomes `a,b.db`.
std::string without_folders(const std::string& word) {
    std::string text;
    std::string item;
    for (const char c : word) {
        if (c == ',' || c == '=') {
            text += item + c;
            item.clear();
        } else if (c == '/') {
            item.clear();
        } else {
            item += c;
        }
    }
    return text + item;
}

// The command line as the report shows it, without folders.
std::string command_line(Arguments arguments) {
    std::ranges::transform(arguments, arguments.begin(), without_folders);
    return shell_text("smemtune bench", arguments);
}

// All problems for which the database has a winner on this device.
std::vector<Problem> stored_problems(const std::filesystem::path& database, const Device& device,
                                     const TemplateChoice& choice, const CommandLine& line) {
    std::vector<Problem> problems;
    const auto add = [&](const Problem& problem) {
        if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    };
    if (!std::filesystem::exists(database)) return problems;
    const Store store(database, Store::Access::read);
    const auto row = store.find(device);
    if (!row) return problems;
    const auto& operation = choice.operation();
    const auto& layout = line.text("layout");
    std::vector<std::string> layouts;
    for (const auto& each : operation.layouts) layouts.push_back(each.first);
    if (layouts.empty() || !layout.empty()) layouts = {layout};
    for (const auto& each : layouts) {
        if (!choice.restricted) {
            for (const auto& best : store.best_of(*row, operation.name, line.text("type"), each)) add(best.problem);
            continue;
        }
        // If the user names a template, the runtime serves only kernels of the template's current code. So trials of
        // other code are left out here.
        for (const auto& kernel : choice.kernels) {
            const auto rows =
                store.best_of(*row, operation.name, line.text("type"), each, kernel.name, kernel.same_code_hashes());
            for (const auto& best : rows) add(best.problem);
        }
    }
    return problems;
}

std::vector<Problem> read_problems(const CommandLine& line, const TemplateChoice& choice, const Device& device) {
    const auto& operation = choice.operation();
    const auto& layout = line.text("layout");
    std::vector<Problem> drawn;
    if (line.has("shapes")) {
        if (!line.flag("served")) throw UsageError("--shapes draws sizes that need not be tuned; give --served, too");
        for (auto& sample : draw_samples(operation, line.text("type"), layout.empty() ? "nn" : layout,
                                         static_cast<std::size_t>(line.number("shapes", 1, 10'000)), {}, line.seed())) {
            drawn.push_back(std::move(sample.problem));
        }
        return drawn;
    }
    // Checks --type, --layout and --sizes, even if the database is empty. `--sizes stored` names no size, so size 64
    // takes its place in this check.
    auto problems = make_problems(operation, line.text("sizes") == "stored" ? "64" : line.text("sizes"),
                                  line.text("type"), layout.empty() ? "nn" : layout, device);
    if (line.text("sizes") != "stored") return problems;
    problems = stored_problems(line.database(), device, choice, line);
    if (problems.empty()) {
        throw UsageError("no winner of " + operation.name + " " + line.text("type") + " on " + device.name + " is in " +
                         line.database().string() + "; tune first: " + tuning_command(line, "auto", layout) +
                         ", or name another --db");
    }
    return problems;
}

std::vector<std::unique_ptr<Competitor>> make_competitors(const Baselines& baselines, Runtime& runtime, int proposals) {
    std::vector<std::unique_ptr<Competitor>> competitors;
    auto& backend = RuntimeInspector::backend(runtime);
    try {
        if (!baselines.libraries.empty()) {
            if (backend.device().is_host()) throw VendorError("cuBLAS needs a GPU");
            const Cublas library(backend);
            for (const auto& name : baselines.libraries) {
                competitors.push_back(name == "cublas" ? cublas_competitor(library)
                                                       : cublaslt_competitor(library, backend, proposals));
            }
        }
    } catch (const VendorError& error) {
        fmt::print(stderr, "{}; compared without it\n", error.what());
    }
    for (const auto& path : baselines.databases) {
        auto competitor = database_competitor(runtime, path);
        if (std::ranges::any_of(competitors, [&](const auto& other) { return other->name() == competitor->name(); })) {
            throw UsageError("--against names " + competitor->name() + " twice; give one of the two another file name");
        }
        competitors.push_back(std::move(competitor));
    }
    return competitors;
}

std::string utc_date() {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string progress_text(const ProblemBench& result) {
    auto text = to_text(result.problem);
    if (!result.stored) return text + ": no winner is stored";
    if (!result.wrong.empty()) return text + ": WRONG: " + result.wrong;
    for (const auto& [cache, ours, comparisons] : result.caches) {
        text += fmt::format("; {} {}", to_text(cache), time_text(ours.median_us));
        for (const auto& each : comparisons) {
            text += each.why_not.empty() ? fmt::format(", {} x {:.3f}", each.competitor, each.ratio.median)
                                         : fmt::format(", {}: {}", each.competitor, each.why_not);
        }
    }
    return result.why_not.empty() ? text : text + "; not measured to the end: " + result.why_not;
}

// Reports each problem without a winner, with the command that tunes the problem. Returns the exit code.
int complain(const std::vector<ProblemBench>& problems, const CommandLine& line) {
    int code = success;
    for (const auto& each : problems) {
        if (!each.stored) {
            fmt::print(stderr, "no winner is stored for {}; tune it: {}\n", to_text(each.problem),
                       tuning_command(line, size_text(each.problem), each.problem.layout));
        }
        const bool competitor_is_wrong = std::ranges::any_of(each.caches, [](const CacheResult& result) {
            return std::ranges::any_of(result.comparisons, [](const Comparison& one) { return one.wrong; });
        });
        if (!each.stored || !each.wrong.empty() || competitor_is_wrong) code = std::max<int>(code, nothing_found);
        if (!each.why_not.empty()) code = bad_environment;
    }
    return code;
}

// Adds the comparison of each problem to `report`. If the user named several templates, each problem uses the best of
// them for this problem. Returns the exception that ended the comparison early, if any.
std::exception_ptr measure(BenchRequest request, const TemplateChoice& choice, Runtime& runtime,
                           std::span<const std::unique_ptr<Competitor>> competitors, BenchReport& report) {
    watch_for_interruption("");
    const auto count = request.problems.size();
    const auto say = [&](ProblemBench result) {
        report.problems.push_back(std::move(result));
        fmt::print(stderr, "[{}/{}] {}\n", report.problems.size(), count, progress_text(report.problems.back()));
    };
    std::exception_ptr failure;
    const KernelOutputOnStderr kernel_output;
    try {
        if (choice.restricted && choice.kernels.size() > 1) {
            for (const auto& problem : std::vector(request.problems)) {
                if (interrupted()) break;
                request.problems = {problem};
                request.kernel_template = best_template(runtime, problem, choice);
                bench(request, runtime, competitors, say);
            }
        } else {
            if (choice.restricted) request.kernel_template = choice.kernels.front().name;
            bench(request, runtime, competitors, say);
        }
    } catch (const std::exception&) {
        failure = std::current_exception();
    }
    report.complete = !failure && !interrupted();
    return failure;
}

void tell(const BenchReport& report, const Baselines& baselines, const std::string& json_path, std::size_t width) {
    const auto changed = baselines.previous ? changes_since(*baselines.previous, report) : "";
    if (json_path == "-") {
        fmt::print("{}\n", json_text(document("bench", to_json(report))));
        fmt::print(stderr, "{}", changed);
        return;
    }
    if (!json_path.empty()) {
        std::ofstream file(json_path);
        file << json_text(document("bench", to_json(report))) << '\n';
        if (!file.flush()) throw std::runtime_error("cannot write " + json_path);
    }
    fmt::print("{}{}", to_text(report, width), changed);
}

}  // namespace

int bench_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = bench_options(process_environment);
    if (!line.parse(arguments)) return success;
    const auto choice = choose_templates(line);
    const auto baselines = parse_baselines(line.text("against"));
    const auto found = find_device(line.text("device"));
    BenchRequest request{.any_template = choice.kernels.front(),
                         .caches = parse_cache(line.text("cache")),
                         .served = line.flag("served"),
                         .seed = line.seed(),
                         .interrupted = [] { return interrupted().load(); }};
    request.pairs.least = read_pairs(line);
    request.pairs.most = 4 * request.pairs.least;
    const auto proposals = static_cast<int>(line.number("proposals", 1, 1000));
    const auto json_path = line.has("json") ? line.text("json") : "";
    if (!json_path.empty() && json_path != "-") check_writable(json_path);
    request.problems = read_problems(line, choice, found.device);
    tell_fallback(line.text("device"), found.device, host_for_times);
    if (found.device.is_host()) process_environment.before_host_kernels();

    Runtime runtime(runtime_options(line, process_environment, choice, found.name));
    const auto competitors = make_competitors(baselines, runtime, proposals);
    BenchReport report{.provenance = {.command_line = command_line(arguments),
                                      .version = SMEMTUNE_VERSION,
                                      .commit = process_environment.commit,
                                      .date = utc_date(),
                                      .device = found.device,
                                      .platform = platform_versions(found.device),
                                      .compiler = RuntimeInspector::compiler(runtime).version(),
                                      .database = line.database().filename().string(),
                                      .pairs = request.pairs,
                                      .seed = request.seed,
                                      .tf32_override = process_environment.tf32_override == "1"}};
    for (const auto& competitor : competitors)
        report.provenance.competitors[competitor->name()] = competitor->version();
    for (const auto& kernel : choice.kernels) report.defaults.emplace(kernel.name, default_configuration(kernel));
    Watchdog watchdog(parse_duration(line.text("deadline")), end_program);
    request.begin_step = [&](const std::string& step) { watchdog.begin(step); };
    const auto failure = measure(request, choice, runtime, competitors, report);
    // The measured problems are reported even if the comparison ended early. An empty report never overwrites a file.
    if (!report.problems.empty()) tell(report, baselines, json_path, line.table_width());
    if (failure) std::rethrow_exception(failure);
    const auto code = complain(report.problems, line);
    return interrupted() ? interrupted_by_user : code;
}

}  // namespace smemtune
