// smemtune templates
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "templates/launch/limits.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

void describe(const KernelTemplate& kernel, const std::string& size, const Device& device) {
    const auto layout = kernel.layouts.empty() ? std::string() : kernel.layouts.front();
    const auto problem = make_problem(kernel.operation, size, kernel.types.front(), layout, device);
    const auto space = feasible_space(kernel, problem, device);
    fmt::print("{}: {}\n  computes {}: {}\n  types:", kernel.name, kernel.summary, kernel.operation.name,
               kernel.operation.summary);
    for (const auto& type : kernel.types) fmt::print(" {}", type);
    if (!kernel.layouts.empty()) fmt::print("; layouts:");
    for (const auto& each : kernel.layouts) fmt::print(" {}", each);
    fmt::print("; compute capability {}.{} and up{}\n\nparameters\n", kernel.compute_capability / 10,
               kernel.compute_capability % 10, kernel.host ? ", and the host" : "");
    for (const auto& parameter : kernel.parameters) {
        std::string values;
        for (const auto value : parameter.values) values += fmt::format(" {}", value);
        fmt::print("  {} in{} (default {}{}): {}\n", parameter.name, values, parameter.default_value,
                   parameter.runtime ? ", a run-time argument" : "", parameter.summary);
    }
    if (!kernel.derived.empty()) fmt::print("\nderived\n");
    for (const auto& derived : kernel.derived) {
        fmt::print("  {} = {}{}{}\n", derived.name, derived.value, derived.summary.empty() ? "" : ": ",
                   derived.summary);
    }
    fmt::print("\n{} configurations, {} of them valid for {} on {}; removed, by the first rule that each breaks:\n",
               space.raw_size(), space.size(), to_text(problem), device.name);
    for (const auto& [constraint, points] : space.census()) {
        if (points > 0) fmt::print("  {:>8}  {}\n            {}\n", points, constraint.reason, constraint.text());
    }
}

}  // namespace

int templates_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        "templates",
        "smemtune templates [NAME]: the kernels that can be tuned; one in detail, with its parameters and what "
        "each rule removes from its space.\n\n"
        "  smemtune templates tiled --device sm_90 --size 4096x11008x128\n"
        "  smemtune templates --templates ./my_kernels");
    line.add()("name", po::value<std::string>(), "a template");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "folders with templates of your own");
    line.add()("device", po::value<std::string>()->default_value("auto")->value_name("D"),
               "a device, or a model such as sm_90");
    line.add()("size", po::value<std::string>()->default_value("4096")->value_name("MxNxK"),
               "the problem to count for");
    line.add_json();
    line.positional({"name"});
    if (!line.parse(arguments)) return success;
    auto kernels = choose_templates(line.text("templates"), "");
    if (line.has("name")) {
        const auto& name = line.text("name");
        std::erase_if(kernels, [&](const KernelTemplate& kernel) { return kernel.name != name; });
        if (kernels.empty()) throw UsageError("there is no template '" + name + "'; see 'smemtune templates'");
        if (!line.get<bool>("json")) {
            describe(kernels.front(), line.text("size"), any_device(line.text("device")));
            return success;
        }
    }
    if (line.get<bool>("json")) {
        auto json = nlohmann::json::array();
        for (const auto& kernel : kernels) {
            auto parameters = nlohmann::json::object();
            auto runtime = nlohmann::json::array();
            for (const auto& parameter : kernel.parameters) {
                parameters[parameter.name] = parameter.values;
                if (parameter.runtime) runtime.push_back(parameter.name);
            }
            json.push_back({{"name", kernel.name},
                            {"operation", kernel.operation.name},
                            {"summary", kernel.summary},
                            {"types", kernel.types},
                            {"layouts", kernel.layouts},
                            {"compute_capability", kernel.compute_capability},
                            {"host", kernel.host},
                            {"hash", kernel.hash},
                            {"parameters", parameters},
                            {"runtime_parameters", runtime}});
        }
        fmt::print("{}\n", json_text(document("templates", {{"templates", json}})));
        return success;
    }
    std::vector<std::vector<std::string>> rows{{"template", "operation", "parameters", "summary"}};
    for (const auto& kernel : kernels) {
        std::string parameters;
        for (const auto& parameter : kernel.parameters) parameters += (parameters.empty() ? "" : " ") + parameter.name;
        rows.push_back({kernel.name, kernel.operation.name, parameters, kernel.summary});
    }
    fmt::print("{}", table(rows, process_environment.output_width));
    return success;
}

}  // namespace smemtune
