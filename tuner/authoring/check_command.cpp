// smemtune check: reports what is wrong with the templates of a folder, without a tuning run.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "templates/manifest/catalog.h"
#include "tuner/authoring/check_templates.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

void print_check(const TemplateCheck& check, const Problem& problem) {
    fmt::print("{} {}{}{}: {} ({} compiled)\n", check.name, problem.type, problem.layout.empty() ? "" : " ",
               problem.layout, check.failed() ? "FAILED" : "ok", counted(check.compiled, "program"));
    // A mistake in the source gives the same error in each program, so equal errors share one line.
    std::vector<std::pair<Finding, std::size_t>> lines;  // each with the number of further programs that have the error
    for (const auto& finding : check.findings) {
        const auto same = std::ranges::find_if(lines, [&](const auto& line) {
            return finding.is_error && line.first.is_error && line.first.what == finding.what;
        });
        if (same == lines.end()) {
            lines.emplace_back(finding, 0);
        } else {
            ++same->second;
        }
    }
    for (const auto& [finding, more] : lines) {
        fmt::print("  {}  {}{}: {}\n", finding.is_error ? "error  " : "warning", finding.where,
                   more == 0 ? "" : fmt::format(" and {} more", more), finding.what);
    }
}

nlohmann::json json_of(const TemplateCheck& check, const Problem& problem) {
    auto findings = nlohmann::json::array();
    for (const auto& each : check.findings) {
        findings.push_back(
            {{"severity", each.is_error ? "error" : "warning"}, {"where", each.where}, {"what", each.what}});
    }
    return {{"template", check.name}, {"type", problem.type},       {"layout", problem.layout},
            {"ok", !check.failed()},  {"compiled", check.compiled}, {"findings", findings}};
}

}  // namespace

int check_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "check",
         .summary = "Check the templates of a folder without a GPU: compile configurations that together have every "
                    "value of every parameter, and report errors and warnings. The exit code is 1 if there is an "
                    "error.",
         .words = "FOLDER",
         .examples = {{"smemtune check ./my_kernels --device sm_90", "For a GPU that this machine need not have."}}});
    line.add_device("The device to compile for, or a model such as sm_90.", "sm_90", DeviceNames::model);
    line.add_sizes("The problem whose configurations are checked.", "1024");
    line.add_json();
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty()) throw UsageError("check needs a folder; write for example 'smemtune check ./my_kernels'");
    const auto device = any_device(line.text("device"));
    const auto compiler = make_compiler(
        device, {.host_compiler = process_environment.host_compiler, .toolkits = process_environment.toolkits});
    auto checks = nlohmann::json::array();
    bool failed = false;
    for (const auto& kernel : load_templates(read_sources(line.words().front()))) {
        for (const auto& type : kernel.types) {
            const auto layouts = kernel.layouts.empty() ? std::vector<std::string>{""} : kernel.layouts;
            for (const auto& layout : layouts) {
                const auto problem = make_problem(kernel.operation, line.text("sizes"), type, layout, device);
                TemplateCheck check{.name = kernel.name};
                if (const auto unmet = why_unsupported(kernel, problem, device)) {
                    check.findings.push_back({true, device.name, *unmet});
                } else {
                    check = check_template(kernel, problem, device, *compiler, std::thread::hardware_concurrency());
                }
                failed = failed || check.failed();
                if (line.flag("json")) {
                    checks.push_back(json_of(check, problem));
                } else {
                    print_check(check, problem);
                }
            }
        }
    }
    if (line.flag("json")) fmt::print("{}\n", json_text(document("check", {{"templates", checks}})));
    return failed ? nothing_found : success;
}

}  // namespace smemtune
