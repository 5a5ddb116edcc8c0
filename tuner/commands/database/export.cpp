// smemtune db export and db compile: write databases and texts for other machines.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/compiler.h"
#include "templates/manifest/catalog.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/commands/database/results_file.h"
#include "tuner/formats/stored_results.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"
#include "tuner/shipping/compile_portfolio.h"
#include "tuner/shipping/export_database.h"
#include "tuner/shipping/new_database.h"
#include "tuner/shipping/portfolio_texts.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

namespace fs = std::filesystem;

void tell_left_out(const std::vector<std::string>& reasons) {
    for (const auto& reason : reasons) fmt::print(stderr, "left out: {}\n", reason);
}

int export_texts(const CommandLine& line, const Store& store, const fs::path& folder, const std::string& commit) {
    const auto texts = portfolio_texts(store, commit);
    const auto outdated = outdated_portfolios(store);
    tell_left_out(outdated);
    if (texts.empty() && !outdated.empty()) return nothing_found;
    if (texts.empty()) {
        fmt::print(stderr, "the database holds no portfolio; make one with {}\n", line.proposed("portfolio"));
        return nothing_found;
    }
    fs::create_directories(folder);
    for (const auto& text : texts) {
        const auto path = folder / file_name(text);
        std::ofstream file(path, std::ios::binary);
        file << to_toml(text);
        file.close();
        if (!file) throw UsageError(path.string() + " cannot be written; choose another folder");
        fmt::print("{}: {}\n", path.string(), counted(text.members.size(), "member"));
    }
    return success;
}

// Throws UsageError if `file` exists, unless it is a database without trials, such as an earlier output of db compile.
// Returns whether the database has portfolios.
bool require_replaceable(const fs::path& file) {
    if (!fs::exists(file)) return false;
    bool has_trials = false;
    bool has_portfolios = false;
    try {
        const Store store(file, Store::Access::read);
        const auto summary = store.summary();
        has_trials = summary.measured + summary.rejected > 0;
        has_portfolios = !store.portfolios(TermsVersions::all).empty();
    } catch (const StoreError&) {
        throw UsageError(file.string() + " exists and is no database; remove it, or choose another file");
    }
    if (has_trials) throw UsageError(file.string() + " holds trials and is not replaced; choose another file");
    return has_portfolios;
}

int export_to(const Store& store, const fs::path& file, bool winners) {
    if (fs::exists(file)) throw UsageError(file.string() + " exists; remove it, or choose another file");
    NewDatabase copy(file);
    const auto exported = export_database(store, copy.store(), winners);
    tell_left_out(exported.left_out);
    if (exported.winners + exported.members == 0) {
        fmt::print(stderr, "there is nothing to export; {} was not written\n", file.string());
        return nothing_found;
    }
    copy.finish();
    fmt::print("{}: {}, {} of portfolios\n", file.string(), counted(exported.winners, "winner"),
               counted(exported.members, "member"));
    return exported.has_damage ? bad_database : success;
}

int export_results(const CommandLine& line, const Store& store, Store::Filter filter, const std::string& format,
                   const fs::path& file) {
    filter.sort = Store::Filter::Sort::id;
    const auto results = stored_results(store, store.rows(filter));
    if (results.empty()) {
        complain_of_nothing(line, store, filter);
        return nothing_found;
    }
    write_results(file, format, results);
    return success;
}

std::string read_portfolio_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || fs::is_directory(path)) throw UsageError(path + " cannot be read as a file; check the path");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string architecture_of(const Device& device) {
    return device.is_host() ? "host" : "sm_" + std::to_string(device.compute_capability);
}

// The run that the new database records as the origin of a portfolio.
RunRecord record_of(const std::string& path, const PortfolioText& text) {
    const nlohmann::json request{
        {"portfolio", fs::path(path).filename().string()}, {"measured_at", text.measured_at}, {"commit", text.commit}};
    return {request.dump(), {}, nlohmann::json{{"toolchain", text.toolchain}, {"compiler", text.compiler}}.dump()};
}

}  // namespace

int database_export_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db export",
         .summary =
             "Write winners and portfolios to a new database for applications, portfolios as text, or trials for other "
             "programs.",
         .words = "FILE",
         .examples = {{"smemtune db export --winners app.db", "For Runtime::Options::databases of an application."},
                      {"smemtune db export --portfolio-text db/portfolios", "A file for each portfolio, in a folder."},
                      {"smemtune db export --format kernel-tuner --sizes 4096 cache.json",
                       "For Kernel Tuner's simulation mode and its dashboard."}},
         .notes =
             "A new database holds what is verified: winners and portfolios with their templates and machine code, and "
             "no other trials. FILE must not exist. Text files replace earlier files of the same name. --format writes "
             "trials for other programs: docs/formats.md."});
    line.add({.name = "winners", .summary = "Winners and portfolios. The default."});
    line.add({.name = "portfolio", .summary = "Portfolios alone."});
    line.add({.name = "portfolio-text", .summary = "Portfolios as text; FILE is a folder."});
    line.add({.name = "format",
              .value = "FORMAT",
              .summary = "Write trials in the format of Kernel Tuner's cache, of T4 results, of kernel_launcher's "
                         "wisdom, or as CSV. --device, --sizes, --templates and --operation choose them.",
              .choices = result_formats()});
    add_database_filters(line);
    line.add_database();
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty()) throw UsageError("db export needs the name of a file; see 'smemtune db export --help'");
    if (line.flag("winners") + line.flag("portfolio") + line.flag("portfolio-text") + line.has("format") > 1) {
        throw UsageError("--winners, --portfolio, --portfolio-text and --format exclude each other; choose one");
    }
    for (const auto* filter : {"device", "sizes", "templates", "template", "operation"}) {
        if (line.has("format") || line.text(filter).empty()) continue;
        throw UsageError(fmt::format("--{} chooses trials, which only --format writes; leave it out", filter));
    }
    const ShownDatabase database(line.database());
    const auto& store = database.store();
    const fs::path file = line.words().front();
    if (line.has("format")) {
        return database.result(export_results(line, store, read_database_filter(line), line.text("format"), file));
    }
    if (line.flag("portfolio-text")) return export_texts(line, store, file, process_environment.commit);
    return database.result(export_to(store, file, !line.flag("portfolio")));
}

int database_compile_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db compile",
         .summary = "Compile portfolios that are kept as text into a new database. No GPU is needed.",
         .words = "FILE...",
         .examples = {{"smemtune db compile --to shipped.db --target sm_90 db/portfolios/*.toml", ""}},
         .notes =
             "A member is stored only if its machine code is equal, byte for byte, to the code that was verified. A "
             "different compiler may make different code. The member is then left out. 'smemtune portfolio' on the "
             "device can measure and verify it again."});
    line.add({.name = "to",
              .value = "FILE",
              .summary =
                  "The new database. It replaces a database without trials, but no other file. An empty one replaces "
                  "nothing."});
    line.add({.name = "target",
              .value = "LIST",
              .summary = "Only portfolios of these architectures: sm_90, host. All by default.",
              .proposals = {"sm_90", "host"},
              .list = true});
    line.add({.name = "jobs",
              .value = "N",
              .summary = "Compile N members at once; one per core by default.",
              .letter = "j"});
    line.accept_words(1000);
    if (!line.parse(arguments)) return success;
    if (line.words().empty() || !line.has("to")) {
        throw UsageError("db compile needs texts and --to FILE; see 'smemtune db compile --help'");
    }
    const auto targets = line.has("target") ? split(line.text("target"), ',') : std::vector<std::string>{};
    const auto jobs = line.has("jobs") ? static_cast<std::size_t>(line.number("jobs", 1, 1024))
                                       : std::max(1U, std::thread::hardware_concurrency());
    const auto& templates = builtin_templates();
    const bool has_portfolios = require_replaceable(line.text("to"));
    NewDatabase database(line.text("to"));
    std::size_t stored = 0;
    std::map<std::string, std::string> paths;  // by the portfolio's device, operation, type and layout
    for (const auto& path : line.words()) {
        const auto begin = std::chrono::steady_clock::now();
        const auto text = parse_portfolio_text(path, read_portfolio_file(path));
        if (!targets.empty() && std::ranges::find(targets, architecture_of(text.device)) == targets.end()) continue;
        const auto [other, is_new] = paths.try_emplace(nlohmann::json(text.device).dump() + file_name(text), path);
        if (!is_new) throw UsageError(other->second + " and " + path + " are of the same portfolio; leave one out");
        const auto compiler = make_compiler(text.device, {.host_compiler = process_environment.host_compiler,
                                                          .toolkits = process_environment.toolkits});
        const auto run = database.store().start_run(record_of(path, text));
        const auto compiled = compile_portfolio(text, templates, *compiler, jobs, database.store());
        database.store().finish_run(run, "complete");
        stored += compiled.stored;
        tell_left_out(compiled.left_out);
        fmt::print("{}: {} of {} have the machine code that was verified ({:.0f} s)\n", path, compiled.stored,
                   counted(text.members.size(), "member"), seconds_since(begin));
        if (!compiled.left_out.empty() && compiler->version() != text.compiler) {
            fmt::print(stderr, "{}: verified with {}, compiled with {}\n", path, text.compiler, compiler->version());
        }
    }
    if (paths.empty()) {
        fmt::print(stderr, "no text is of an architecture in --target {}; {} was not written\n", line.text("target"),
                   line.text("to"));
        return nothing_found;
    }
    if (stored == 0 && has_portfolios) {
        fmt::print(stderr,
                   "{} stays as it is, because the new database would have no member; remove it, or compile with "
                   "the compiler that the texts name\n",
                   line.text("to"));
        return nothing_found;
    }
    database.finish();
    return success;
}

}  // namespace smemtune
