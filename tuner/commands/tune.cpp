// smemtune tune: finds the fastest configurations and stores every trial.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "db/store.h"
#include "runtime/compiler.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/interruption.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/page/page_file.h"
#include "tuner/report/json.h"
#include "tuner/report/progress.h"
#include "tuner/report/report.h"
#include "tuner/report/text.h"
#include "tuner/search/search.h"
#include "tuner/trial/sampling.h"
#include "tuner/tuning/tune.h"
#include "tuner/tuning/validate.h"
#include "tuner/worker/worker.h"

namespace smemtune {

namespace {

CommandLine tune_options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "tune",
         .summary =
             "Find the fastest configurations of kernel templates on a device: try configurations, verify and time "
             "each, store every outcome. The same command run again measures only what is new.",
         .examples = {{"smemtune --device 0 --sizes 512..8192", "'tune' may be left out before an option."},
                      {"smemtune --sizes 512..8192:512,1000,4096x11008x128 --templates tiled", ""},
                      {"smemtune --operation batched_gemm --sizes 16x512x512x512,1000x32x32x64", ""},
                      {"smemtune --templates ./my_kernels --operation stencil --sizes 4096", "Kernels of your own."}},
         .notes =
             "--sizes auto is 512..8192; for batched_gemm 64x64x64x64 to 64x512x512x512. On the host it is 64..256; "
             "for batched_gemm 4x32x32x32,4x64x64x64."});
    line.add_device(
        "0, 1, ... for a GPU; host for the CPU; auto: the first GPU, or else the host. 0,1 or all: several GPUs. Equal "
        "GPUs share the work; different GPUs are tuned separately.",
        "auto", DeviceNames::several);
    line.add_sizes(
        "512..8192: each size is twice the previous one. 512..8192:512: in steps of 512. 1000,4095: a list. "
        "4096x11008x128: MxNxK. 16x512x512x512: BATCHxMxNxK of batched_gemm, where 512 alone is a batch of one.",
        "auto");
    line.add_operation("The operation to compute, such as batched_gemm; gemm unless --templates implies another.");
    line.add_type();
    line.add_layout("nn, nt, tn or tt: t says that A or B is stored transposed.");
    line.add_templates("The templates to tune: names, or folders of your own, separated by commas. All by default.");
    line.add({.name = "search",
              .value = "S",
              .summary = fmt::format("How the next configuration is chosen; auto is {}.", auto_search()),
              .default_value = "auto",
              .choices = search_names()});
    line.add({.name = "evaluations", .value = "N", .summary = "Try at most N configurations for each size."});
    line.add({.name = "budget",
              .value = "TIME",
              .summary = "Stop after this time: 60s, 10m or 1h. Sizes whose search has not "
                         "begun get equal shares of what is left. A trial that runs at the end is stopped, after 5 s "
                         "at the earliest, and is not stored."});
    line.add({.name = "roofline",
              .value = "PERCENT",
              .summary = "End the search of a size at this share of the device's peak FLOP/s."});
    line.add({.name = "patience",
              .value = "N",
              .summary =
                  "End the search of a template after N configurations in a row without gain. If the best "
                  "configuration was number B of the search, at least B / 4 in a row are needed. Exhaustive and random "
                  "searches try everything.",
              .default_value = std::to_string(StoppingPolicy{}.patience)});
    line.add({.name = "objective",
              .value = "O",
              .summary = "Minimise the time of a launch, or its energy by the GPU's own counter.",
              .default_value = "time",
              .choices = {"time", "energy"}});
    line.add({.name = "validate",
              .value = "N",
              .summary =
                  "Tune N times (5 unless given) with other seeds, without stored trials, and store nothing. Then time "
                  "these winners and the stored winner alternately, in a new process.",
              .implicit = "5"});
    line.add_deadline();
    line.add({.name = "jobs",
              .value = "N",
              .summary = "Compile N configurations at once; one per core by default.",
              .letter = "j"});
    line.add_seed("Seed of inputs, searches and the host's threads.");
    line.add({.name = "retune", .summary = "Forget first what is stored for these sizes and templates."});
    line.add({.name = "checked", .summary = "Host device: report accesses outside shared arrays and arguments."});
    line.add({.name = "report",
              .value = "FILE",
              .summary = "Write the page of 'smemtune report' while tuning, and once more at the end."});
    line.add_wide();
    line.add_database();
    line.add_json();
    return line;
}

Objective parse_objective(const std::string& text, const Device& device) {
    if (text == "time") return Objective::time;
    if (device.is_host()) throw UsageError("--objective energy needs a GPU: the host has no counter that is read");
    return Objective::energy;
}

TuneRequest read_request(const CommandLine& line, const Device& device) {
    TuneRequest request;
    request.templates = choose_templates(line).kernels;
    request.problems = make_problems(request.templates.front().operation, line.text("sizes"), line.text("type"),
                                     line.text("layout"), device);
    request.search = line.text("search");
    if (line.has("evaluations")) {
        request.evaluations = static_cast<std::size_t>(line.number("evaluations", 1, 1LL << 40));
    }
    request.stopping.patience = static_cast<std::size_t>(line.number("patience", 1, 1LL << 40));
    if (line.has("roofline")) {
        const auto percent = line.real("roofline");
        if (!(percent > 0 && percent <= 100)) {
            throw UsageError(fmt::format("--roofline {} is no share; write for example 90, for 90 %", percent));
        }
        if (peak_fp32_flops(device) <= 0) {
            throw UsageError("--roofline needs a GPU: the peak of " + device.name + " is not known");
        }
        request.roofline = percent / 100;
    }
    request.objective = parse_objective(line.text("objective"), device);
    if (line.has("budget")) request.budget = parse_duration(line.text("budget"));
    request.jobs = line.has("jobs") ? static_cast<unsigned>(line.number("jobs", 1, 1024))
                                    : std::max(1U, std::thread::hardware_concurrency());
    request.seed = line.seed();
    request.retune = line.flag("retune");
    nlohmann::json asked{{"sizes", line.text("sizes")},
                         {"templates", line.text("template").empty() ? line.text("templates") : line.text("template")},
                         {"search", request.search},
                         {"type", line.text("type")},
                         {"layout", line.text("layout")},
                         {"seed", request.seed},
                         {"operation", line.text("operation")},
                         {"retune", request.retune},
                         {"deadline", line.text("deadline")},
                         {"objective", line.text("objective")},
                         {"patience", request.stopping.patience}};
    if (request.evaluations) asked["evaluations"] = *request.evaluations;
    if (request.roofline) asked["roofline"] = *request.roofline;
    if (request.budget) asked["budget_seconds"] = request.budget->count();
    request.text = asked.dump();
    return request;
}

// The tuning run of one kind of device: its request and its results.
struct DeviceRun {
    DeviceGroup group;
    TuneRequest request;
    std::vector<std::vector<PlannedSpace>> spaces;
    std::unique_ptr<Compiler> compiler;
    TuneReport report;
    ValidationReport validation;
    std::exception_ptr failure;
};

struct Settings {
    const ProcessEnvironment& process_environment;
    std::filesystem::path database;
    std::chrono::seconds deadline;
    bool checked = false;
    Progress::Style progress = Progress::Style::silent;
    std::size_t width = 0;  // the width of tables, in columns
    std::size_t validations = 0;
    std::size_t device_runs = 1;
};

// Prints the device and the numbers of sizes and templates. This comes before the configurations are counted, because
// counting may take seconds.
void announce(const DeviceRun& device_run, const Settings& settings) {
    if (settings.progress == Progress::Style::silent) return;
    const auto& [group, request, spaces, compiler, report, validation, failure] = device_run;
    fmt::print(stderr, "{}{}: {}, {}\n", group.names.size() > 1 ? fmt::format("{} x ", group.names.size()) : "",
               group.device.name, counted(request.problems.size(), "size"),
               counted(request.templates.size(), "template"));
}

// Returns a text such as `12 of 40 known from earlier runs, `. Empty if no configuration is known.
std::string known_text(const DeviceRun& device_run, const Store& store, std::size_t valid) {
    if (device_run.request.retune) return "";
    std::size_t known = 0;
    for (std::size_t i = 0; i < device_run.spaces.size(); ++i) {
        for (const auto& planned : device_run.spaces[i]) {
            const auto& kernel = *planned.kernel_template;
            std::size_t stored = 0;
            for (const auto& hash : kernel.same_code_hashes()) {
                stored += store.count(device_run.group.device, kernel.name, hash, device_run.request.problems[i]);
            }
            known += std::min(stored, planned.space->size());
        }
    }
    return known == 0 ? "" : fmt::format("{} of {} known from earlier runs, ", count_text(known), count_text(valid));
}

void hold(DeviceRun& device_run, const Settings& settings) {
    const auto& request = device_run.request;
    const auto& names = device_run.group.names;
    Store store(settings.database);
    const SamplingPolicy sampling{.energy = request.objective == Objective::energy};
    std::vector<std::unique_ptr<Worker>> workers;
    TuneResources resources{device_run.group.device, *device_run.compiler, store, {}, sampling, interrupted()};
    for (const auto& name : names) {
        WorkerOptions options{.executable = settings.process_environment.executable,
                              .device = name,
                              .seed = request.seed,
                              .sampling = sampling};
        set_deadlines(options, settings.deadline, request.templates.front().operation);
        workers.push_back(std::make_unique<Worker>(std::move(options)));
        resources.workers.push_back(workers.back().get());
    }
    std::size_t valid = 0;
    std::size_t expected = 0;
    for (const auto& row : device_run.spaces) {
        std::size_t of_size = 0;
        for (const auto& each : row) of_size += each.space->size();
        valid += of_size;
        expected += std::min(of_size, request.evaluations.value_or(of_size));
    }
    const bool open_ended = learns(request.search) || settings.validations > 0;
    Progress progress(stderr, settings.progress,
                      {.sizes = request.problems.size(), .trials = open_ended ? 0 : expected, .budget = request.budget},
                      settings.device_runs > 1 ? device_run.group.device.name : "");
    progress.say(fmt::format("{} in all, {}", counted(valid, "configuration"),
                             settings.validations > 0
                                 ? "into databases that are thrown away"
                                 : known_text(device_run, store, valid) + "into " + settings.database.string()));
    if (settings.validations > 0) {
        device_run.validation = validate(request, device_run.spaces, resources, settings.validations, progress);
    } else {
        device_run.report = tune(request, device_run.spaces, resources, progress);
    }
}

// Runs all of `device_runs` at the same time, each on its own thread.
void run_all(std::vector<DeviceRun>& device_runs, const Settings& settings) {
    std::vector<std::jthread> threads;
    threads.reserve(device_runs.size());
    for (auto& device_run : device_runs) {
        threads.emplace_back([&device_run, &settings] {
            try {
                hold(device_run, settings);
            } catch (...) {
                device_run.failure = std::current_exception();
            }
        });
    }
}

// Prints one report for each kind of device to standard output.
void print(const std::vector<DeviceRun>& device_runs, const Settings& settings, bool json) {
    auto all = nlohmann::json::array();
    for (const auto& device_run : device_runs) {
        if (device_run.failure) continue;
        if (json) {
            all.push_back(settings.validations > 0 ? to_json(device_run.validation)
                                                   : to_json(device_run.report, settings.database));
        } else {
            if (settings.device_runs > 1) fmt::print("{}\n", device_run.group.device.name);
            fmt::print("{}", settings.validations > 0 ? to_text(device_run.validation, settings.width)
                                                      : to_text(device_run.report, settings.database, settings.width));
        }
    }
    if (!json || all.empty()) return;
    auto content = device_runs.size() == 1 ? all.front() : nlohmann::json{{"reports", all}};
    fmt::print("{}\n", json_text(document(settings.validations > 0 ? "tune --validate" : "tune", std::move(content))));
}

// The request for the page of --report, which shows all trials of these devices and this operation.
PageRequest page_of(const std::vector<DeviceRun>& device_runs) {
    PageRequest page{.filter = {.operations = {device_runs.front().request.templates.front().operation.name}}};
    for (const auto& device_run : device_runs) page.filter.devices.push_back(device_run.group.device.name);
    return page;
}

// Returns the exit code for the worst result of all devices.
int exit_code(const std::vector<DeviceRun>& device_runs) {
    int code = success;
    for (const auto& [group, request, spaces, compiler, report, validation, failure] : device_runs) {
        const auto* go_on =
            request.retune ? "run the same command without --retune to go on" : "run the same command to go on";
        if (validation.interrupted) {
            fmt::print(stderr, "interrupted: --validate stores nothing; the same command begins anew\n");
            return interrupted_by_user;
        }
        if (report.ended == "interrupted") {
            fmt::print(stderr, "interrupted: everything finished is stored; {}\n", go_on);
            return interrupted_by_user;
        }
        const auto has_winner = [](const ProblemResult& each) { return each.best.has_value(); };
        if (report.ended == "budget") {
            // The report lacks the problems that were not begun.
            const auto done = static_cast<std::size_t>(std::ranges::count_if(report.problems, has_winner));
            const auto all = request.problems.size();
            const auto left = fmt::format(" ({} of {} without a winner)", all - done, counted(all, "size"));
            // If the searches of some sizes ended with their shares, and the last sizes needed less than theirs, the
            // run ends before the budget is spent.
            const bool is_spent = request.budget && report.seconds >= static_cast<double>(request.budget->count());
            if (report.unfinished > 0) {
                fmt::print(stderr,
                           "{} stopped because the budget was spent, and not stored; if the kernel hangs, give a "
                           "--deadline shorter than the budget, or else a longer --budget\n",
                           report.unfinished == 1 ? "1 trial was" : fmt::format("{} trials were", report.unfinished));
            }
            if (report.unprepared > 0) {
                fmt::print(stderr,
                           "the inputs and reference outputs of {} were not ready when the budget was spent; if the "
                           "reference hangs, mend it, or else give a longer --budget\n",
                           counted(report.unprepared, "size"));
            }
            fmt::print(stderr, "{}; {}{}\n",
                       is_spent ? "the budget is spent" : "some sizes used up their shares of the budget", go_on,
                       done == all ? "" : left);
            if (done == 0 && (report.unfinished + report.unprepared > 0 || !report.rejected.empty()))
                code = nothing_found;
            continue;
        }
        if (std::ranges::any_of(validation.problems, [](const Validation& each) { return each.runs == 0; })) {
            code = nothing_found;
        }
        if (!std::ranges::all_of(report.problems, has_winner)) code = nothing_found;
    }
    return code;
}

}  // namespace

int tune_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = tune_options(process_environment);
    if (!line.parse(arguments)) return success;
    const bool json = line.flag("json");
    Settings settings{.process_environment = process_environment,
                      .deadline = parse_duration(line.text("deadline")),
                      .checked = line.flag("checked"),
                      .progress = json                          ? Progress::Style::silent
                                  : process_environment.redraws ? Progress::Style::redrawn
                                                                : Progress::Style::lines,
                      .width = line.table_width()};
    if (line.has("validate")) {
        if (line.has("report")) throw UsageError("--validate stores nothing that --report could show; leave out one");
        settings.validations = static_cast<std::size_t>(line.number("validate", 2, 1000));
    }
    std::vector<DeviceRun> device_runs;
    for (auto& group : choose_devices(line.text("device"))) {
        if (settings.checked && !group.device.is_host()) {
            throw UsageError("--checked is for --device host; on a GPU use compute-sanitizer");
        }
        // The database has a separate device for checked mode, because checked kernels are many times slower.
        if (settings.checked) group.device = checked(group.device);
        auto& device_run = device_runs.emplace_back();
        device_run.group = std::move(group);
    }
    settings.device_runs = device_runs.size();
    settings.database = database_to_write(line);
    for (auto& device_run : device_runs) {
        const auto& device = device_run.group.device;
        device_run.request = read_request(line, device);
        device_run.request.jobs = std::max(1U, device_run.request.jobs / static_cast<unsigned>(device_runs.size()));
        device_run.compiler = make_compiler(device, {.host_compiler = process_environment.host_compiler,
                                                     .checked = settings.checked,
                                                     .toolkits = process_environment.toolkits});
        (void)device_run.compiler->version();  // throws if there is no compiler, before the database is opened
        announce(device_run, settings);
        device_run.spaces = plan(device_run.request, device);
        tell_fallback(line.text("device"), device, host_for_times);
        for (const auto& problem : device_run.request.problems) {
            check_host_time(device_run.request.templates.front().operation, problem, device, true);
        }
    }
    watch_for_interruption("\ninterrupted: finishing the trial in flight; interrupt again to stop at once\n");
    std::signal(SIGPIPE, SIG_IGN);

    std::optional<FollowingPage> page;
    if (line.has("report")) page.emplace(line.text("report"), settings.database, page_of(device_runs));
    run_all(device_runs, settings);
    page.reset();
    print(device_runs, settings, json);
    for (const auto& device_run : device_runs) {
        if (device_run.failure) std::rethrow_exception(device_run.failure);
    }
    return exit_code(device_runs);
}

}  // namespace smemtune
