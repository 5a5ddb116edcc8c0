// smemtune templates: lists the kernels that can be tuned.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "templates/launch/limits.h"
#include "templates/space/value.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

// The templates that NAME, --templates and --operation choose. Without these, all built-in templates.
std::vector<KernelTemplate> chosen_by(const CommandLine& line) {
    const auto& list = line.text("templates");
    if (!line.words().empty()) return {find_template(list, line.words().front())};
    if (!line.text("template").empty()) return {find_template(list, line.text("template"))};
    return choose_templates(list, line.text("operation"));
}

// Joins the lines of an expression. Manifests break long expressions into several lines.
std::string one_line(const std::string& expression) {
    std::istringstream words(expression);
    std::string text;
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string parameter_text(const Parameter& parameter) {
    std::vector<std::string> values;
    for (const auto value : parameter.values) values.push_back(value_text(value));
    return fmt::format("{}. One of {} [default: {}]{}", parameter.summary, fmt::join(values, ", "),
                       value_text(parameter.default_value),
                       parameter.runtime  ? "; a run-time argument"
                       : parameter.launch ? "; changes only the launch"
                                          : "");
}

// Lists how many configurations each rule removes, not counting those that an earlier rule removes.
std::string census_text(const ParameterSpace& space, std::size_t columns) {
    std::vector<HelpRow> rows;
    for (const auto& [constraint, points] : space.census()) {
        if (points == 0) continue;
        rows.push_back({count_text(points), constraint.reason + "\n" + one_line(constraint.text())});
    }
    if (rows.empty()) return "No rule removes any.\n";
    return "A configuration that breaks several rules counts for the first one. Removed by\n" +
           help_rows(rows, columns);
}

void describe(const KernelTemplate& kernel, const std::string& size, const Device& device, std::size_t columns) {
    const auto layout = kernel.layouts.empty() ? std::string() : kernel.layouts.front();
    const auto problem = make_problem(kernel.operation, size, kernel.types.front(), layout, device);
    const auto space = feasible_space(kernel, problem, device);
    fmt::print("{}", wrap(kernel.name + ": " + kernel.summary, columns));
    std::vector<HelpRow> facts{{"operation", kernel.operation.name + ": " + kernel.operation.summary},
                               {"types", fmt::format("{}", fmt::join(kernel.types, ", "))}};
    if (!kernel.layouts.empty()) facts.push_back({"layouts", fmt::format("{}", fmt::join(kernel.layouts, ", "))});
    const auto as_text = [](std::int64_t capability) { return fmt::format("{}.{}", capability / 10, capability % 10); };
    const auto least = kernel.compute_capability;
    const auto most = kernel.highest_compute_capability;
    const auto range = !most           ? as_text(least) + " and higher"
                       : *most > least ? as_text(least) + " to " + as_text(*most)
                                       : as_text(least) + " only";
    facts.push_back({"runs on", "compute capability " + range + (kernel.host ? ", and the host" : "")});
    std::vector<HelpRow> parameters;
    for (const auto& parameter : kernel.parameters) parameters.push_back({parameter.name, parameter_text(parameter)});
    fmt::print("{}\nparameters\n{}", help_rows(facts, columns), help_rows(parameters, columns));
    std::vector<HelpRow> derived;
    for (const auto& each : kernel.derived) {
        derived.push_back({each.name, one_line(each.value) + (each.summary.empty() ? "" : "\n" + each.summary)});
    }
    if (!derived.empty()) fmt::print("\nderived values\n{}", help_rows(derived, columns));
    if (const auto why_not = why_unsupported(kernel, problem, device)) {
        fmt::print("\n{}", wrap(fmt::format("It cannot run on {}: {}.", device.name, *why_not), columns));
        return;
    }
    fmt::print("\n{}{}",
               wrap(fmt::format("{} configurations, {} of them valid for {} on {}.", count_text(space.raw_size()),
                                count_text(space.size()), to_text(problem), device.name),
                    columns),
               census_text(space, columns));
}

nlohmann::json to_json(const std::vector<KernelTemplate>& kernels) {
    auto json = nlohmann::json::array();
    for (const auto& kernel : kernels) {
        auto parameters = nlohmann::json::object();
        auto runtime = nlohmann::json::array();
        auto launch = nlohmann::json::array();
        for (const auto& parameter : kernel.parameters) {
            auto& values = parameters[parameter.name] = nlohmann::json::array();
            for (const auto value : parameter.values) {
                values.push_back(is_text_value(value) ? nlohmann::json(value_text(value)) : nlohmann::json(value));
            }
            if (parameter.runtime) runtime.push_back(parameter.name);
            if (parameter.launch) launch.push_back(parameter.name);
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
                        {"runtime_parameters", runtime},
                        {"launch_parameters", launch}});
    }
    return json;
}

void print_list(const std::vector<KernelTemplate>& kernels, std::size_t columns) {
    std::map<std::string, std::vector<HelpRow>> by_operation;
    for (const auto& kernel : kernels) {
        by_operation[kernel.operation.name + ": " + kernel.operation.summary].push_back(
            {kernel.name, fmt::format("{} ({} parameter{})", kernel.summary, kernel.parameters.size(),
                                      kernel.parameters.size() == 1 ? "" : "s")});
    }
    const auto* before = "";
    for (const auto& [operation, rows] : by_operation) {
        fmt::print("{}{}{}", before, wrap(operation, columns), help_rows(rows, columns));
        before = "\n";
    }
}

}  // namespace

int templates_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "templates",
         .summary = "List the kernels that can be tuned. With NAME, describe one: its parameters, and how many "
                    "configurations each rule removes.",
         .words = "[NAME]",
         .examples = {{"smemtune templates tiled --device sm_90 --sizes 4096x11008x128", ""},
                      {"smemtune templates --templates ./my_kernels", "Those of a folder of your own."}},
         .word_proposals = names_of_templates()});
    line.add_templates("Templates to show: names, or folders of your own, separated by commas. All by default.");
    line.add_operation("Only the templates of this operation.");
    line.add_device("The device to count valid configurations for, or a model such as sm_90.", "auto",
                    DeviceNames::model);
    line.add_sizes("The problem to count valid configurations for.", "4096");
    line.add_json();
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    const auto kernels = chosen_by(line);
    if (line.flag("json")) {
        fmt::print("{}\n", json_text(document("templates", {{"templates", to_json(kernels)}})));
    } else if (!line.words().empty()) {
        const auto device = any_device(line.text("device"));
        describe(kernels.front(), line.text("sizes"), device, process_environment.help_columns);
        tell_fallback(line.text("device"), device, host_for_limits);
    } else {
        print_list(kernels, process_environment.help_columns);
    }
    return success;
}

}  // namespace smemtune
