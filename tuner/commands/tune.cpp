// smemtune tune: the main job.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tuner/commands/command.h"
#include "tuner/progress.h"
#include "tuner/report.h"
#include "tuner/search/search.h"
#include "tuner/tune.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

std::atomic<bool> interrupted = false;  // NOLINT(*-avoid-non-const-global-variables): a signal handler has no argument

// The first Ctrl-C ends the run after the trial in flight; a second one ends the program.
void interrupt(int) {
    if (interrupted.exchange(true)) std::_Exit(interrupted_by_user);
    constexpr std::string_view hint = "\ninterrupted: finishing the trial in flight; once more stops at once\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, hint.data(), hint.size());
}

// `90`, `90s`, `2m`, `1h`.
std::chrono::seconds parse_duration(const std::string& text) {
    std::size_t end = 0;
    long long value = 0;
    try {
        value = std::stoll(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    const auto unit = text.substr(end);
    const auto seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (end == 0 || seconds == 0 || value < 1 || value > 1'000'000) {
        throw UsageError("duration '" + text + "' does not fit; write for example 90s, 10m or 1h");
    }
    return std::chrono::seconds(value * seconds);
}

long long in_range(long long least, long long value, long long most, const char* option) {
    if (value < least) throw UsageError(fmt::format("--{} {} is less than {}", option, value, least));
    if (value > most) throw UsageError(fmt::format("--{} {} is more than {}", option, value, most));
    return value;
}

CommandLine options(const Surroundings& surroundings) {
    CommandLine line(
        "tune",
        "smemtune [tune]: try the configurations of kernel templates on a device, verify and time each, and "
        "store every outcome.\nRunning the same command again pays only for what is new.\n\n"
        "  smemtune --device 0 --sizes 512..8192\n"
        "  smemtune --sizes 512..8192:512,1000,4096x11008x128 --templates tiled,joint_tiled\n"
        "  smemtune --templates ./my_kernels --operation stencil --sizes 4096");
    line.add()("device", po::value<std::string>()->default_value("auto")->value_name("D"),
               "0, 1, ... for a GPU, host for the CPU, auto: the first GPU or else the host");
    line.add()(
        "sizes", po::value<std::string>()->default_value("auto")->value_name("S"),
        "512..8192 doubles, 512..8192:512 steps, 1000,4095 lists, 4096x11008x128 is MxNxK; auto: 512..8192, on the "
        "host 64..256");
    line.add()("operation", po::value<std::string>()->default_value("")->value_name("NAME"),
               "what to compute; gemm unless --templates says otherwise");
    line.add()("type", po::value<std::string>()->default_value("f32")->value_name("T"),
               "numerics class of the elements");
    line.add()("layout", po::value<std::string>()->default_value("nn")->value_name("L"),
               "nn, nt, tn or tt: t says that A or B is stored transposed");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "names of templates and folders with templates, separated by commas; all of the operation by default");
    std::string searches;
    for (const auto& name : search_names()) searches += (searches.empty() ? "" : ", ") + name;
    line.add()("search", po::value<std::string>()->default_value("exhaustive")->value_name("S"), searches.c_str());
    line.add()("evaluations", po::value<long long>()->value_name("N"),
               "at most N configurations of a template per size");
    line.add()("budget", po::value<std::string>()->value_name("TIME"), "stop after 60s, 10m or 1h");
    line.add()("deadline", po::value<std::string>()->default_value("30s")->value_name("TIME"),
               "of one trial; one that runs longer is rejected");
    line.add()("jobs,j", po::value<int>()->value_name("N"),
               "compile N configurations at once; one per core by default");
    line.add_seed("of inputs, searches and the host's threads");
    line.add()("retune", po::bool_switch(), "forget what is known about these sizes and templates first");
    line.add()("checked", po::bool_switch(), "host device: report accesses outside shared arrays and arguments");
    line.add_database(surroundings);
    line.add_json();
    return line;
}

TuneRequest read_request(const CommandLine& line, const Device& device) {
    TuneRequest request;
    const auto& list = line.text("templates");
    const auto& operation = line.text("operation");
    request.templates = choose_templates(list, list.empty() && operation.empty() ? "gemm" : operation);
    for (const auto& kernel : request.templates) {
        if (kernel.operation.name != request.templates.front().operation.name) {
            throw UsageError("the templates compute both " + request.templates.front().operation.name + " and " +
                             kernel.operation.name + "; choose one with --operation");
        }
    }
    request.problems = make_problems(request.templates.front().operation, line.text("sizes"), line.text("type"),
                                     line.text("layout"), device);
    request.search = line.text("search");
    const auto& names = search_names();
    if (std::ranges::find(names, request.search) == names.end()) (void)make_search(request.search, {});
    if (line.has("evaluations")) {
        request.evaluations =
            static_cast<std::size_t>(in_range(1, line.get<long long>("evaluations"), 1LL << 40, "evaluations"));
    }
    if (line.has("budget")) request.budget = parse_duration(line.text("budget"));
    request.jobs = line.has("jobs") ? static_cast<unsigned>(in_range(1, line.get<int>("jobs"), 1024, "jobs"))
                                    : std::max(1U, std::thread::hardware_concurrency());
    request.seed = line.seed();
    request.retune = line.get<bool>("retune");
    nlohmann::json asked{{"sizes", line.text("sizes")},      {"templates", list},
                         {"search", request.search},         {"type", line.text("type")},
                         {"layout", line.text("layout")},    {"seed", request.seed},
                         {"operation", operation},           {"retune", request.retune},
                         {"deadline", line.text("deadline")}};
    if (request.evaluations) asked["evaluations"] = *request.evaluations;
    if (request.budget) asked["budget_seconds"] = request.budget->count();
    request.text = asked.dump();
    return request;
}

}  // namespace

int tune_command(const Arguments& arguments, const Surroundings& surroundings) {
    auto line = options(surroundings);
    if (!line.parse(arguments)) return success;
    const bool json = line.get<bool>("json");
    const bool checked = line.get<bool>("checked");
    const auto found = find_device(line.text("device"));
    if (checked && !found.device.is_host())
        throw UsageError("--checked is for --device host; on a GPU use compute-sanitizer");
    auto device = found.device;
    // A device of its own in the database: checked kernels are many times slower.
    if (checked) device.name += " (checked)";
    const auto request = read_request(line, device);
    const auto spaces = plan(request, device);
    const auto deadline = parse_duration(line.text("deadline"));

    const auto compiler = make_compiler(device, {.host_compiler = surroundings.host_compiler, .checked = checked});
    (void)compiler->version();  // a missing compiler is reported before the database is touched
    const auto path = line.database();
    Store store(path);
    const SamplingPolicy sampling;
    Worker worker({.executable = surroundings.executable,
                   .device = found.name,
                   .seed = request.seed,
                   .trial_deadline = deadline,
                   .sampling = sampling});
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    std::signal(SIGPIPE, SIG_IGN);

    std::size_t planned = 0;
    for (const auto& row : spaces) {
        for (const auto& each : row)
            planned += std::min(request.evaluations.value_or(each.space->size()), each.space->size());
    }
    TuneReport report;
    {
        Progress progress(stderr, !json, planned);
        progress.say(fmt::format("{}: {} size{}, {} template{}, {} configurations in all, into {}", device.name,
                                 request.problems.size(), request.problems.size() == 1 ? "" : "s",
                                 request.templates.size(), request.templates.size() == 1 ? "" : "s", planned,
                                 path.string()));
        report = tune(request, spaces, {device, *compiler, store, worker, sampling, interrupted}, progress);
    }
    fmt::print("{}", json ? to_json_text(report, path) : to_text(report));
    const auto* go_on =
        request.retune ? "run the same command without --retune to go on" : "run the same command to go on";
    if (report.ended == "interrupted") {
        fmt::print(stderr, "interrupted: everything finished is stored; {}\n", go_on);
        return interrupted_by_user;
    }
    if (report.ended == "budget") fmt::print(stderr, "the budget is spent; {}\n", go_on);
    const bool all =
        std::ranges::all_of(report.problems, [](const ProblemResult& each) { return each.best.has_value(); });
    return all && report.problems.size() == request.problems.size() ? success
           : report.ended == "budget"                               ? success
                                                                    : nothing_found;
}

}  // namespace smemtune
