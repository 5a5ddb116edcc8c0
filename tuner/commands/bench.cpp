// smemtune bench: our winners against vendor libraries, other databases and earlier figures.
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
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

CommandLine options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        "bench",
        "smemtune bench: time the stored winners against cuBLAS, in pairs: one batch of each in turn in one process, a "
        "ratio for each pair,\nthe median of the ratios with the interval in which it lies with 95 % confidence. Every "
        "result is verified first.\n\n"
        "  smemtune bench                                        all winners of this device against cublas and "
        "cublaslt\n"
        "  smemtune bench --sizes 512..8192 --json FILE.json     for the record\n"
        "  smemtune bench --against other.db                     against the winners of another database\n"
        "  smemtune bench --against cublas,earlier.json          and what changed by more than noise since then");
    line.add()("device", po::value<std::string>()->default_value("auto")->value_name("D"), "0, 1, ..., host or auto");
    line.add()("sizes", po::value<std::string>()->default_value("stored")->value_name("S"),
               "as for tune: 512..8192, 1000,4095, 4096x11008x128, of batched_gemm 16x512x512x512; stored: every "
               "problem with a winner on this device");
    line.add()("operation", po::value<std::string>()->default_value("")->value_name("NAME"),
               "what to compute; gemm unless --templates says otherwise");
    line.add_type();
    line.add()("layout", po::value<std::string>()->default_value("")->value_name("L"),
               "nn, nt, tn or tt; nn by default, with --sizes stored every one of them");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "folders with templates of your own");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("NAME"),
               "ours is the best of this one, not of all");
    line.add()(
        "against", po::value<std::string>()->default_value("cublas,cublaslt")->value_name("LIST"),
        "cublas: as it chooses by itself; cublaslt: the best of what its heuristic proposes, each timed; another "
        "database; a JSON file that bench wrote: its ratios against those of now");
    line.add()("proposals", po::value<long long>()->default_value(64)->value_name("N"),
               "of cublaslt's heuristic, at most; it often has fewer");
    line.add()("cache", po::value<std::string>()->default_value("both")->value_name("C"),
               "cold: operands rotate through twice the L2 cache, in 64 sets at most; warm: the same each time; both: "
               "warm too where it differs");
    line.add()("pairs", po::value<long long>()->default_value(30)->value_name("N"),
               "at least, 6 or more; up to four times as many until the interval is within half a percent");
    line.add_seed("of the inputs");
    line.add_database(process_environment);
    line.add()("wide", po::bool_switch(), "tables as wide as they need, whatever the terminal's width");
    line.add()("json", po::value<std::string>()->implicit_value("-")->value_name("FILE"),
               "write JSON with its provenance into FILE; without FILE, on standard output instead of text");
    return line;
}

std::vector<Cache> parse_cache(const std::string& text) {
    if (text == "cold") return {Cache::cold};
    if (text == "warm") return {Cache::warm};
    if (text == "both") return {Cache::cold, Cache::warm};
    throw UsageError("--cache '" + text + "' is unknown; known: cold warm both");
}

std::size_t read_pairs(const CommandLine& line) {
    const auto pairs = line.get<long long>("pairs");
    if (pairs < static_cast<long long>(least_for_interval)) {
        throw UsageError(
            fmt::format("--pairs {} give no interval of 95 % confidence; take {} or more", pairs, least_for_interval));
    }
    return static_cast<std::size_t>(line.number("pairs", 1, 10'000));
}

// Found out before anything is measured.
void check_writable(const std::filesystem::path& file) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(file, ignored);
    if (!std::ofstream(file, std::ios::app)) throw UsageError("--json " + file.string() + " cannot be written");
    if (!there) std::filesystem::remove(file, ignored);
}

// As one word for a shell.
std::string quoted(const std::string& text) {
    const bool plain = std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_./,-+:=").find(c) != std::string_view::npos;
    });
    return plain ? text : "'" + text + "'";
}

// A file is published, so folders of this machine are no part of it: of `a,/home/b.db`, `a,b.db` stays.
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

std::string command_line(const Arguments& arguments) {
    std::string text = "smemtune bench";
    for (const auto& word : arguments) text += " " + quoted(without_folders(word));
    return text;
}

// The command that tunes what was asked for: what its defaults would not say is said.
std::string remedy(const CommandLine& line, const std::string& sizes, const std::string& layout) {
    const auto& folders = line.text("templates");
    const auto& operation = line.text("operation");
    const auto& type = line.text("type");
    auto text = "smemtune --device " + line.text("device");
    if (!operation.empty()) text += " --operation " + operation;
    text += " --sizes " + sizes;
    if (type != "f32") text += " --type " + type;
    if (!layout.empty() && layout != "nn") text += " --layout " + layout;
    if (!folders.empty()) text += " --templates " + quoted(folders);
    return text + " --db " + quoted(line.database().string());
}

// Every problem that the database has a winner for on this device.
std::vector<Problem> stored_problems(const std::filesystem::path& database, const Device& device,
                                     const std::vector<KernelTemplate>& templates, const CommandLine& line) {
    std::vector<Problem> problems;
    if (!std::filesystem::exists(database)) return problems;
    const Store store(database, Store::Access::read);
    const auto row = store.find(device);
    if (!row) return problems;
    const auto& operation = templates.front().operation;
    const auto& layout = line.text("layout");
    // What the runtime serves by name is of the template as it is now.
    const auto& name = line.text("template");
    const auto named = std::ranges::find(templates, name, &KernelTemplate::name);
    const auto hashes = named == templates.end() ? std::vector<std::string>{} : named->same_code_hashes();
    std::vector<std::string> layouts;
    for (const auto& each : operation.layouts) layouts.push_back(each.first);
    if (layouts.empty() || !layout.empty()) layouts = {layout};
    for (const auto& each : layouts) {
        for (const auto& best : store.best_of(*row, operation.name, line.text("type"), each, name, hashes))
            problems.push_back(best.problem);
    }
    return problems;
}

std::vector<Problem> read_problems(const CommandLine& line, const std::vector<KernelTemplate>& templates,
                                   const Device& device) {
    const auto& operation = templates.front().operation;
    const auto& layout = line.text("layout");
    // Types, layouts and sizes are checked, whatever is stored.
    auto problems = make_problems(operation, line.text("sizes") == "stored" ? "64" : line.text("sizes"),
                                  line.text("type"), layout.empty() ? "nn" : layout, device);
    if (line.text("sizes") != "stored") return problems;
    problems = stored_problems(line.database(), device, templates, line);
    if (problems.empty()) {
        throw UsageError("no winner of " + operation.name + " " + line.text("type") + " on " + device.name + " is in " +
                         line.database().string() + "; tune first: " + remedy(line, "auto", layout) +
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

// What was asked for and could not be had, with the remedy.
int complain(const std::vector<ProblemBench>& problems, const CommandLine& line) {
    int code = success;
    for (const auto& each : problems) {
        if (!each.stored) {
            fmt::print(stderr, "no winner is stored for {}; tune it: {}\n", to_text(each.problem),
                       remedy(line, size_text(each.problem), each.problem.layout));
        }
        const bool competitor_is_wrong = std::ranges::any_of(each.caches, [](const CacheResult& result) {
            return std::ranges::any_of(result.comparisons, [](const Comparison& one) { return one.wrong; });
        });
        if (!each.stored || !each.wrong.empty() || competitor_is_wrong) code = std::max<int>(code, nothing_found);
        if (!each.why_not.empty()) code = bad_environment;
    }
    return code;
}

// Into `report`; returns what ended it early, if anything threw.
std::exception_ptr measure(const BenchRequest& request, Runtime& runtime,
                           std::span<const std::unique_ptr<Competitor>> competitors, BenchReport& report) {
    watch_for_interruption("");
    std::exception_ptr failure;
    try {
        bench(request, runtime, competitors, [&](ProblemBench result) {
            report.problems.push_back(std::move(result));
            fmt::print(stderr, "[{}/{}] {}\n", report.problems.size(), request.problems.size(),
                       progress_text(report.problems.back()));
        });
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
    auto line = options(process_environment);
    if (!line.parse(arguments)) return success;
    const auto templates = choose_of_one_operation(line.text("templates"), line.text("operation"));
    const auto baselines = parse_baselines(line.text("against"));
    const auto found = find_device(line.text("device"));
    BenchRequest request{.any_template = templates.front(),
                         .kernel_template = line.text("template"),
                         .caches = parse_cache(line.text("cache")),
                         .seed = line.seed(),
                         .interrupted = [] { return interrupted().load(); }};
    request.pairs.least = read_pairs(line);
    request.pairs.most = 4 * request.pairs.least;
    const auto proposals = static_cast<int>(line.number("proposals", 1, 1000));
    const auto json_path = line.has("json") ? line.text("json") : "";
    if (!json_path.empty() && json_path != "-") check_writable(json_path);
    request.problems = read_problems(line, templates, found.device);

    Runtime runtime({.database = line.database(),
                     .device = found.name,
                     .template_folders = template_folders(line.text("templates")),
                     .host_compiler = process_environment.host_compiler});
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
                                      .seed = request.seed}};
    for (const auto& competitor : competitors)
        report.provenance.competitors[competitor->name()] = competitor->version();
    for (const auto& kernel : templates) report.defaults.emplace(kernel.name, default_configuration(kernel));
    const auto width = line.get<bool>("wide") ? 0 : process_environment.output_width;
    const auto failure = measure(request, runtime, competitors, report);
    // Whatever ended it, what was measured is told; nothing replaces no earlier file.
    if (!report.problems.empty()) tell(report, baselines, json_path, width);
    if (failure) std::rethrow_exception(failure);
    const auto code = complain(report.problems, line);
    return interrupted() ? interrupted_by_user : code;
}

}  // namespace smemtune
