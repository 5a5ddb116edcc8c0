// smemtune run: one problem the way an application computes it, then verified and timed.
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/inspector.h"
#include "templates/manifest/catalog.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"
#include "tuner/trial/fetched_kernel.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

CommandLine options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        "run",
        "smemtune run: fetch the kernel of a problem through the runtime, launch it, verify every element and "
        "time it.\n\n  smemtune run --size 4096x4096x128\n  smemtune run --operation batched_gemm --size "
        "16x512x512x512");
    line.add()("size", po::value<std::string>()->value_name("MxNxK"),
               "the problem, or BATCHxMxNxK of batched_gemm; one number for a cube");
    line.add()("device", po::value<std::string>()->default_value("auto")->value_name("D"), "0, 1, ..., host or auto");
    line.add()("operation", po::value<std::string>()->default_value("")->value_name("NAME"),
               "what to compute; gemm unless --templates says otherwise");
    line.add_type();
    line.add()("layout", po::value<std::string>()->default_value("nn")->value_name("L"), "nn, nt, tn or tt");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "folders with templates of your own");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("NAME"), "only this one");
    line.add_seed("of the inputs");
    line.add_database(process_environment);
    line.add_json();
    return line;
}

// Throws UsageError when none of `templates` computes the problem on the device; `name` is the only one, unless empty.
void check_computable(const std::vector<KernelTemplate>& templates, const std::string& name, const Problem& problem,
                      const Device& device) {
    if (std::ranges::any_of(templates, [&](const KernelTemplate& each) {
            return (name.empty() || each.name == name) && supports(each, problem, device);
        })) {
        return;
    }
    if (!name.empty() && std::ranges::find(templates, name, &KernelTemplate::name) == templates.end()) {
        throw UsageError("there is no template '" + name + "' of " + templates.front().operation.name +
                         "; see 'smemtune templates'; one of your own is named by its folder, --templates FOLDER");
    }
    throw UsageError("no template" + (name.empty() ? std::string() : " '" + name + "'") + " can compute " +
                     to_text(problem) + " on " + device.name + "; see 'smemtune templates'");
}

struct Run {
    Problem problem;
    Device device;
    Choice choice;
    double operations = 0;  // of one launch,
    double bytes = 0;       // and what it must move at least
    Testbed::Verdict verdict;
    Measurement measured;  // where the verdict is that all is right
};

Run measure(Runtime& runtime, const Kernel& kernel, const Operation& operation, const TestbedBinaries& binaries,
            unsigned seed) {
    auto& backend = RuntimeInspector::backend(runtime);
    backend.make_current();
    Run run{.problem = kernel.problem(), .device = backend.device(), .choice = kernel.choice()};
    const auto environment = environment_of(operation, run.problem, run.device);
    run.operations = static_cast<double>(operation.operations.evaluate(environment));
    run.bytes = static_cast<double>(operation.bytes.evaluate(environment));
    Testbed testbed(backend, operation, run.problem, binaries, seed);
    const FetchedKernel fetched(kernel);
    run.verdict = testbed.verify(fetched);
    if (!run.verdict.wrong) {
        run.measured = time_kernel(backend, testbed, fetched, {}, std::nullopt, run.verdict.first_launch_us);
    }
    return run;
}

nlohmann::json to_json(const Run& run) {
    nlohmann::json json{{"problem", run.problem},
                        {"device", run.device},
                        {"template", run.choice.kernel_template},
                        {"configuration", parse_configuration(run.choice.configuration)},
                        {"match", to_text(run.choice.match)},
                        {"correct", !run.verdict.wrong}};
    if (run.choice.match != Match::untuned) {
        json["tuned_for"] = run.choice.tuned_for;
        json["tuned_on"] = run.choice.device;
    }
    if (run.verdict.wrong) {
        json["wrong"] = *run.verdict.wrong;
    } else {
        json["measurement"] = run.measured;
        json["worst_error"] = run.verdict.worst;
    }
    return json;
}

void print(const Run& run) {
    const auto& choice = run.choice;
    fmt::print("{} on {}\n", to_text(run.problem), run.device.name);
    fmt::print("  kernel     {} {}\n", choice.kernel_template, choice.configuration);
    fmt::print("  match      {}{}\n", to_text(choice.match),
               choice.tuned_for.empty() ? ""
                                        : fmt::format(", tuned for {}{}, {} there", choice.tuned_for,
                                                      choice.match == Match::transferred ? " on " + choice.device : "",
                                                      time_text(choice.expected_us)));
    if (run.verdict.wrong) {
        fmt::print("  WRONG      {}\n", *run.verdict.wrong);
        return;
    }
    fmt::print("  verified   every element; largest error {:.2g} of the forward error bound\n", run.verdict.worst);
    fmt::print("  time       {} +- {}\n", time_text(run.measured.median_us), time_text(run.measured.spread_us));
    if (run.operations > 0) {
        fmt::print("  rate       {:.2f} GFLOP/s\n", run.operations / run.measured.median_us / 1e3);
    } else if (run.bytes > 0) {
        fmt::print("  rate       {:.2f} GB/s\n", run.bytes / run.measured.median_us / 1e3);
    }
}

}  // namespace

int run_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = options(process_environment);
    if (!line.parse(arguments)) return success;
    if (!line.has("size"))
        throw UsageError(
            "run needs --size; write for example --size 4096x4096x128, or for batched_gemm "
            "--size 16x512x512x512");
    const auto templates = choose_of_one_operation(line.text("templates"), line.text("operation"));
    const auto found = find_device(line.text("device"));
    const auto problem = make_problem(templates.front().operation, line.text("size"), line.text("type"),
                                      line.text("layout"), found.device);
    const auto& name = line.text("template");
    check_computable(templates, name, problem, found.device);
    must_fit(templates.front().operation, problem, found.device);
    Runtime runtime({.database = line.database(),
                     .device = found.name,
                     .template_folders = template_folders(line.text("templates")),
                     .host_compiler = process_environment.host_compiler});
    const auto kernel = runtime.fetch(problem, name);
    if (!std::filesystem::exists(line.database())) {
        fmt::print(stderr, "there is no database {}: the kernel is untuned\n", line.database().string());
    }
    const auto binaries = compile_testbed(RuntimeInspector::compiler(runtime), templates.front(), problem);
    const auto run = measure(runtime, kernel, templates.front().operation, binaries, line.seed());
    if (line.get<bool>("json")) {
        fmt::print("{}\n", json_text(document("run", to_json(run))));
    } else {
        print(run);
    }
    return run.verdict.wrong ? nothing_found : success;
}

}  // namespace smemtune
