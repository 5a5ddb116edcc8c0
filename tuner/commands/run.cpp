// smemtune run: one problem the way an application computes it, then verified and timed.
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/inspector.h"
#include "templates/catalog.h"
#include "tuner/commands/command.h"
#include "tuner/fetched.h"
#include "tuner/protocol.h"
#include "tuner/trial.h"

namespace smemtune {

namespace po = boost::program_options;

int run_command(const Arguments& arguments, const Surroundings& surroundings) {
    CommandLine line(
        "run",
        "smemtune run: fetch the kernel of a problem through the runtime, launch it, verify every element and "
        "time it.\n\n  smemtune run --size 4096x4096x128\n  smemtune run --operation batched_gemm --size "
        "16x512x512x512");
    line.add()("size", po::value<std::string>()->value_name("MxNxK"),
               "the problem, or BATCHxMxNxK of batched_gemm; one number for a cube");
    line.add()("device", po::value<std::string>()->default_value("auto")->value_name("D"), "0, 1, ..., host or auto");
    line.add()("operation", po::value<std::string>()->default_value("gemm")->value_name("NAME"), "what to compute");
    line.add_type();
    line.add()("layout", po::value<std::string>()->default_value("nn")->value_name("L"), "nn, nt, tn or tt");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "folders with templates of your own");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("NAME"), "only this one");
    line.add_seed("of the inputs");
    line.add_database(surroundings);
    line.add_json();
    if (!line.parse(arguments)) return success;
    if (!line.has("size"))
        throw UsageError(
            "run needs --size; write for example --size 4096x4096x128, or for batched_gemm "
            "--size 16x512x512x512");
    const auto templates = choose_templates(line.text("templates"), line.text("operation"));
    const auto found = find_device(line.text("device"));
    const auto problem = make_problem(templates.front().operation, line.text("size"), line.text("type"),
                                      line.text("layout"), found.device);
    const auto& name = line.text("template");
    if (std::ranges::none_of(templates, [&](const KernelTemplate& each) {
            return (name.empty() || each.name == name) && supports(each, problem, found.device);
        })) {
        throw UsageError("no template" + (name.empty() ? std::string() : " '" + name + "'") + " can compute " +
                         to_text(problem) + " on " + found.device.name + "; see 'smemtune templates'");
    }

    must_fit(templates.front().operation, problem, found.device);
    Runtime runtime({.database = line.database(),
                     .device = found.name,
                     .template_folders = template_folders(line.text("templates")),
                     .host_compiler = surroundings.host_compiler});
    const auto kernel = runtime.fetch(problem, name);
    const auto& choice = kernel.choice();
    if (!std::filesystem::exists(line.database())) {
        fmt::print(stderr, "there is no database {}: the kernel is untuned\n", line.database().string());
    }

    auto& backend = RuntimeInspector::backend(runtime);
    backend.make_current();
    const auto binaries = compile_testbed(RuntimeInspector::compiler(runtime), templates.front(), problem);
    const auto& operation = templates.front().operation;
    Testbed testbed(backend, operation, problem, binaries, line.seed());
    const Fetched fetched(kernel);
    const auto verdict = testbed.verify(fetched, {});
    Measurement measured;
    if (!verdict.wrong) measured = time_kernel(backend, testbed, fetched, {}, {}, 0, verdict.first_launch_us);

    const auto operations =
        static_cast<double>(operation.operations.evaluate(environment_of(operation, problem, found.device)));
    nlohmann::json json{{"problem", problem},
                        {"device", found.device.name},
                        {"template", choice.kernel_template},
                        {"configuration", choice.configuration},
                        {"match", to_text(choice.match)},
                        {"tuned_for", choice.tuned_for},
                        {"correct", !verdict.wrong}};
    if (verdict.wrong) {
        json["wrong"] = *verdict.wrong;
    } else {
        json["measurement"] = measured;
        json["worst_error"] = verdict.worst;
    }
    if (line.get<bool>("json")) {
        fmt::print("{}\n", json_text(json));
    } else {
        fmt::print("{} on {}\n", to_text(problem), found.device.name);
        fmt::print("  kernel     {} {}\n", choice.kernel_template, choice.configuration);
        fmt::print("  match      {}{}\n", to_text(choice.match),
                   choice.tuned_for.empty()
                       ? ""
                       : fmt::format(", tuned for {}, {} there", choice.tuned_for, time_text(choice.expected_us)));
        if (verdict.wrong) {
            fmt::print("  WRONG      {}\n", *verdict.wrong);
        } else {
            fmt::print("  verified   every element; largest error {:.2g} of the forward error bound\n", verdict.worst);
            fmt::print("  time       {} +- {}\n", time_text(measured.median_us), time_text(measured.spread_us));
            if (operations > 0) fmt::print("  rate       {:.2f} GFLOP/s\n", operations / measured.median_us / 1e3);
        }
    }
    return verdict.wrong ? nothing_found : success;
}

}  // namespace smemtune
