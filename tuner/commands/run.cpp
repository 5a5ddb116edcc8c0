// smemtune run: computes one problem as an application does, then verifies and times it.
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
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/trial.h"
#include "tuner/worker/kernel_output.h"
#include "tuner/worker/watchdog.h"

namespace smemtune {

namespace {

CommandLine run_options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "run",
         .summary =
             "Fetch the kernel of a problem through the runtime, as an application does. Launch it, verify every "
             "element of the result, and time it.",
         .examples = {{"smemtune run --sizes 4096x4096x128", ""},
                      {"smemtune run --operation batched_gemm --sizes 16x512x512x512", "A batch of 16 products."},
                      {"smemtune run --sizes 4096 --templates tiled", "The best configuration of one template."}}});
    line.add_sizes("The problem: MxNxK, or BATCHxMxNxK of batched_gemm; one number for a cube. Only one size.");
    line.add_device("0, 1, ... for a GPU; host for the CPU; auto: the first GPU, or else the host.");
    line.add_operation("The operation to compute; gemm unless --templates implies another.");
    line.add_type();
    line.add_layout("nn, nt, tn or tt: t says that A or B is stored transposed.");
    line.add_templates(
        "The templates that may serve: names, or folders of your own, separated by commas. All by default.");
    line.add_step_deadline();
    line.add_seed("Seed of the inputs.");
    line.add_database();
    line.add_trust();
    line.add_json();
    return line;
}

// Throws UsageError when none of the templates computes the problem on the device.
void check_computable(const TemplateChoice& choice, const Problem& problem, const Device& device) {
    std::string why;
    for (const auto& kernel : choice.kernels) {
        const auto reason = why_unsupported(kernel, problem, device);
        if (!reason) return;
        why += "; " + kernel.name + " has " + *reason;
    }
    throw UsageError("no template can compute " + to_text(problem) + " on " + device.name + why);
}

struct Run {
    Problem problem;
    Device device;
    Choice choice;
    double operations = 0;   // number of arithmetic operations of one launch
    double bytes = 0;        // the least number of bytes that a launch must move
    bool unchecked = false;  // whether the operation has no reference
    Testbed::Verdict verdict;
    Measurement measured;  // the time; set only if the result is right
};

Run measure(Runtime& runtime, const Kernel& kernel, const Operation& operation, const TestbedBinaries& binaries,
            unsigned seed, Watchdog& watchdog) {
    const KernelOutputOnStderr kernel_output;
    auto& backend = RuntimeInspector::backend(runtime);
    backend.make_current();
    Run run{.problem = kernel.problem(), .device = backend.device(), .choice = kernel.choice()};
    const auto environment = environment_of(operation, run.problem, run.device);
    run.operations = static_cast<double>(operation.operations.evaluate(environment));
    run.bytes = static_cast<double>(operation.bytes.evaluate(environment));
    run.unchecked = operation.reference.kind == OperationReference::Kind::none;
    watchdog.begin(preparation_text(operation, run.problem));
    Testbed testbed(backend, operation, run.problem, binaries, seed);
    testbed.use(parse_configuration(run.choice.configuration));
    const FetchedKernel fetched(kernel);
    watchdog.begin(to_text(run.problem) + ": verifying and timing the kernel " + run.choice.kernel_template);
    run.verdict = testbed.verify(fetched);
    if (!run.verdict.wrong) {
        run.measured = time_kernel(backend, testbed, fetched, {}, std::nullopt, run.verdict.first_launch_us);
        run.verdict.wrong = testbed.verify_first_check(fetched).wrong;
        if (run.verdict.wrong) *run.verdict.wrong += ", after the launches that were timed";
    }
    watchdog.begin("");
    return run;
}

// Why the runtime does not serve `winner`: the user's kernel or operation is another version. Empty if both are the
// same, or if the user does not have the kernel.
std::string why_outdated(const TrialRow& winner, const TemplateChoice& choice) {
    const auto kernel = std::ranges::find(choice.kernels, winner.kernel_template, &KernelTemplate::name);
    if (kernel == choice.kernels.end()) return {};
    if (!kernel->is_same_code(winner.template_hash)) return "another version of the kernel";
    const bool same = winner.record.was_verified_as(operation_identity(*kernel, winner.problem));
    return same ? "" : "another version of the operation";
}

// If the database has a winner of this problem that is not served because its kernel or operation was edited since,
// says so.
void tell_outdated_winner(const CommandLine& line, const TemplateChoice& choice, const Problem& problem,
                          const Device& device, const Choice& served) {
    if (served.match == Match::exact || !std::filesystem::exists(line.database())) return;
    try {
        const Store store(line.database(), Store::Access::read);
        const auto device_row = store.find(device);
        const auto problem_row = store.find(problem);
        if (!device_row || !problem_row) return;
        const auto winner = store.best(*device_row, *problem_row);
        const auto why = winner ? why_outdated(*winner, choice) : "";
        if (why.empty()) return;
        fmt::print(stderr, "the stored winner {} {} is not served, because it is of {}; tune again: {}\n",
                   winner->kernel_template, to_text(winner->record.configuration), why,
                   tuning_command(line, line.text("sizes"), problem.layout));
    } catch (const DamagedRow&) {  // the runtime has named the row
    }
}

nlohmann::json to_json(const Run& run) {
    nlohmann::json json{{"problem", run.problem},
                        {"device", run.device},
                        {"template", run.choice.kernel_template},
                        {"configuration", parse_configuration(run.choice.configuration)},
                        {"match", to_text(run.choice.match)},
                        {"correct", !run.verdict.wrong && !run.unchecked}};
    if (run.unchecked) json["unchecked"] = true;
    if (run.choice.match == Match::predicted) {
        json["predicted_us"] = run.choice.expected_us;
        json["uncertainty"] = run.choice.uncertainty;
        json["why"] = run.choice.why;
    } else if (run.choice.match != Match::untuned) {
        if (!run.choice.tuned_for.empty()) json["tuned_for"] = run.choice.tuned_for;
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
    if (!choice.why.empty()) fmt::print("  why        {}\n", choice.why);
    if (run.verdict.wrong) {
        fmt::print("  WRONG      {}\n", *run.verdict.wrong);
        return;
    }
    if (run.unchecked) {
        fmt::print("  NOT CHECKED: the operation has no reference, so the kernel may be wrong\n");
    } else {
        fmt::print("  verified   every element; largest error {:.2g} of the forward error bound\n", run.verdict.worst);
    }
    fmt::print("  time       {} +- {}\n", time_text(run.measured.median_us), time_text(run.measured.spread_us));
    if (run.operations > 0) {
        fmt::print("  rate       {:.2f} GFLOP/s\n", run.operations / run.measured.median_us / 1e3);
    } else if (run.bytes > 0) {
        fmt::print("  rate       {:.2f} GB/s\n", run.bytes / run.measured.median_us / 1e3);
    }
}

}  // namespace

int run_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = run_options(process_environment);
    if (!line.parse(arguments)) return success;
    if (!line.has("sizes")) {
        throw UsageError(
            "run needs --sizes; write for example --sizes 4096x4096x128, or --sizes 16x512x512x512 for "
            "batched_gemm");
    }
    const auto choice = choose_templates(line);
    const auto found = find_device(line.text("device"));
    const auto problem =
        make_problem(choice.operation(), line.text("sizes"), line.text("type"), line.text("layout"), found.device);
    check_computable(choice, problem, found.device);
    must_fit(choice.operation(), problem, found.device);
    check_host_time(choice.operation(), problem, found.device, line.text("device") == "host");
    tell_fallback(line.text("device"), found.device, host_for_times);
    if (found.device.is_host()) process_environment.before_host_kernels();
    Runtime runtime(runtime_options(line, process_environment, choice, found.name));
    const auto kernel = runtime.fetch(problem, best_template(runtime, problem, choice));
    if (!std::filesystem::exists(line.database()) && kernel.choice().match == Match::untuned) {
        fmt::print(stderr, "there is no database {}: the kernel is untuned\n", line.database().string());
    }
    tell_outdated_winner(line, choice, problem, found.device, kernel.choice());
    const auto binaries = compile_testbed(RuntimeInspector::compiler(runtime), choice.kernels.front(), problem);
    Watchdog watchdog(parse_duration(line.text("deadline")), end_program);
    const auto run = measure(runtime, kernel, choice.operation(), binaries, line.seed(), watchdog);
    if (line.flag("json")) {
        fmt::print("{}\n", json_text(document("run", to_json(run))));
    } else {
        print(run);
    }
    return run.verdict.wrong ? nothing_found : success;
}

}  // namespace smemtune
