#include "tuner/authoring/check_templates.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "templates/launch/launch.h"
#include "templates/launch/limits.h"
#include "templates/source/source_scan.h"
#include "templates/space/value.h"
#include "tuner/authoring/signature.h"
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/typed/typed_fill.h"
#include "util/parallel_for.h"

namespace smemtune {

namespace {

using Compiled = std::vector<std::variant<Binary, Rejection>>;

// Adds to `check` what is wrong with one configuration, given the result of its compile.
void judge(const KernelTemplate& kernel, const Problem& problem, const Device& device,
           const Configuration& configuration, const std::variant<Binary, Rejection>& compiled, TemplateCheck& check) {
    const auto values = to_text(configuration);
    const auto where = values.empty() ? "the kernel" : values;
    if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
        check.findings.push_back({true, where, rejection->reason});
        return;
    }
    const auto& resources = std::get<Binary>(compiled).resources;
    auto launch = launch_of(kernel, configuration, problem, device);
    const auto declared = launch.static_shared_bytes;
    launch.registers = resources.registers;
    launch.static_shared_bytes = std::max(declared, resources.static_shared_bytes);
    if (const auto broken = broken_limit(launch, device)) check.findings.push_back({true, where, *broken});
    if (resources.spill_bytes > 0) {
        check.findings.push_back(
            {false, where, "spills " + std::to_string(resources.spill_bytes) + " bytes of registers"});
    }
    if (declared > 0 && resources.static_shared_bytes > declared) {
        check.findings.push_back({false, where,
                                  "uses " + std::to_string(resources.static_shared_bytes) +
                                      " bytes of static shared memory, more than the " + std::to_string(declared) +
                                      " of static_shared_bytes; correct the manifest"});
    }
}

// Returns the arguments of the operation that a launch of the kernel, or of the reference, passes.
std::vector<const Argument*> passed_arguments(const Operation& operation, bool is_kernel) {
    std::vector<const Argument*> passed;
    for (const auto& argument : operation.arguments) {
        if (!is_kernel || argument.symbol.empty()) passed.push_back(&argument);
    }
    return passed;
}

// Warns of function parameters that stand at the place of another argument, and of outputs that a kernel declares
// const. The compiler notices a wrong place only if the types differ. `where` is "the kernel" or "reference".
void find_misplaced(const std::string& where, const std::string& source, const std::string& function,
                    const std::vector<const Argument*>& passed, bool is_kernel, TemplateCheck& check) {
    const auto declared = kernel_arguments(source, function);
    if (!declared) return;
    for (std::size_t i = 0; i < std::min(declared->size(), passed.size()); ++i) {
        const auto& name = (*declared)[i].name;
        const auto& expected = passed[i]->name;
        const auto warn = [&](const std::string& what) {
            check.findings.push_back({false, where,
                                      "parameter " + std::to_string(i + 1) + " of '" + function + "' is '" + name +
                                          "', and the manifest's argument there is '" + expected + "'" + what +
                                          "; arguments are passed in the manifest's order: reorder the parameters, or "
                                          "each [[operation.argument]]"});
        };
        if (name != expected && std::ranges::any_of(passed, [&](const auto* each) { return each->name == name; })) {
            return warn("");
        }
        const auto& [type, unused, is_pointer, is_constant] = (*declared)[i];
        if (is_kernel && is_pointer && is_constant && passed[i]->kind == Argument::Kind::output) {
            return warn(", an output, but the parameter is const");
        }
    }
}

// Warns of parameters that change neither machine code nor launch, probably because the source does not use them.
void find_without_effect(const KernelTemplate& kernel, const std::vector<Configuration>& configurations,
                         const Compiled& compiled, TemplateCheck& check) {
    for (const auto& parameter : kernel.parameters) {
        if (parameter.runtime || parameter.values.size() < 2) continue;
        // The configurations of a group differ only in this parameter.
        struct Group {
            const std::vector<std::uint8_t>* code;  // the machine code of the group's first configuration
            bool compared = false;
            bool differs = false;
        };
        std::map<Configuration, Group> groups;
        for (std::size_t i = 0; i < configurations.size(); ++i) {
            const auto* binary = std::get_if<Binary>(&compiled[i]);
            if (binary == nullptr) continue;
            auto others = configurations[i];
            others.values.erase(parameter.name);
            const auto [at, is_first] = groups.try_emplace(std::move(others), Group{.code = &binary->code});
            if (is_first) continue;
            at->second.compared = true;
            at->second.differs |= binary->code != *at->second.code;
        }
        const auto compared = std::ranges::any_of(groups, [](const auto& each) { return each.second.compared; });
        const auto differs = std::ranges::any_of(groups, [](const auto& each) { return each.second.differs; });
        if (!compared || differs) continue;
        // If a parameter changes only the launch, such as the order of the grid's dimensions, all of its values have
        // the same machine code. That is no mistake.
        const bool in_launch = [&] {
            for (const auto* expressions : {&kernel.block, &kernel.grid}) {
                for (const auto& each : *expressions) {
                    if (std::ranges::count(each.names(), parameter.name) > 0) return true;
                }
            }
            if (kernel.workspace_bytes && std::ranges::count(kernel.workspace_bytes->names(), parameter.name) > 0)
                return true;
            return std::ranges::count(kernel.dynamic_shared_bytes.names(), parameter.name) > 0;
        }();
        if (in_launch) continue;
        check.findings.push_back(
            {false, parameter.name,
             parameter.launch ? "the launch does not depend on it; use it in [launch], or delete it"
                              : "all values compile to the same machine code where the other parameters have their "
                                "defaults, and the launch does not depend on it; check that the source uses " +
                                    parameter.name});
    }
}

// Warns of tolerances within which outputs that a kernel leaves at 0 are right.
void find_vacuous_tolerances(const Operation& operation, TemplateCheck& check) {
    for (const auto& argument : operation.arguments) {
        if (!argument.tolerance) continue;
        const auto& tolerance = *argument.tolerance;
        if (tolerance.relative < 1 && tolerance.share < 1) continue;
        check.findings.push_back({false, argument.name,
                                  std::string("with 'tolerance' of ") +
                                      (tolerance.share < 1 ? "'relative'" : "'share'") +
                                      " >= 1, a kernel that writes only zeros passes; write a smaller number"});
    }
}

}  // namespace

bool TemplateCheck::failed() const { return std::ranges::any_of(findings, &Finding::is_error); }

std::vector<Configuration> covering(const KernelTemplate& kernel, const ParameterSpace& space) {
    std::vector<Configuration> chosen;
    if (space.size() == 0) return chosen;
    auto base = default_configuration(kernel);
    if (!space.find(base)) base = space[0];
    chosen.push_back(base);
    const auto add = [&](const Configuration& each) {
        if (std::ranges::find(chosen, each) == chosen.end()) chosen.push_back(each);
    };
    std::set<std::pair<std::size_t, std::uint16_t>> open;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const auto& parameter = kernel.parameters[p];
        for (std::size_t v = 0; v < parameter.values.size(); ++v) {
            auto near = base;
            near.values[parameter.name] = parameter.values[v];
            if (space.find(near)) {
                add(near);
            } else {
                open.emplace(p, static_cast<std::uint16_t>(v));
            }
        }
    }
    for (std::size_t i = 0; i < space.size() && !open.empty(); ++i) {
        const auto point = space.point(i);
        bool wanted = false;
        for (std::size_t p = 0; p < point.size(); ++p) wanted = open.erase({p, point[p]}) > 0 || wanted;
        if (wanted) add(space[i]);
    }
    return chosen;
}

TemplateCheck check_template(const KernelTemplate& kernel, const Problem& problem, const Device& device,
                             const Compiler& compiler, std::size_t threads) {
    TemplateCheck check{.name = kernel.name};
    try {
        check_values(kernel.operation, environment_of(kernel.operation, problem, device), to_text(problem));
    } catch (const std::invalid_argument& error) {
        check.findings.push_back({true, "operation", error.what()});
    }
    const auto space = feasible_space(kernel, problem, device);
    const auto configurations = covering(kernel, space);
    if (configurations.empty()) {
        check.findings.push_back({true, "parameters",
                                  "no configuration is valid for " + to_text(problem) + "; 'smemtune templates " +
                                      kernel.name + " --templates FOLDER --sizes " + size_text(problem) +
                                      "' shows what each rule removes"});
    }
    for (const auto& parameter : kernel.parameters) {
        for (const auto value : parameter.values) {
            const bool occurs = std::ranges::any_of(
                configurations, [&](const Configuration& each) { return each.values.at(parameter.name) == value; });
            if (occurs || configurations.empty()) continue;
            check.findings.push_back({false, parameter.name,
                                      "no valid configuration has the value " + value_text(value) +
                                          "; take it out, or loosen the constraint that removes it"});
        }
    }
    if (kernel.operation.reference.kind == OperationReference::Kind::none) {
        check.findings.push_back({false, "reference",
                                  "outputs are NOT CHECKED: the operation has no reference; 'Kinds of references' in "
                                  "docs/templates.md lists them"});
    }
    find_vacuous_tolerances(kernel.operation, check);
    const bool has_program = kernel.operation.reference.has_program();
    std::vector<std::pair<std::string, Program>> beside;
    if (has_program) {
        beside.emplace_back("reference", reference_program(kernel, reference_problem(kernel.operation, problem)));
    }
    if (!kernel.operation.prepare_path.empty()) beside.emplace_back("prepare", prepare_program(kernel, problem));
    Compiled compiled(configurations.size() + beside.size(), Rejection{});
    parallel_for(compiled.size(), threads, [&](std::size_t i) {
        compiled[i] = compiler.compile(i >= configurations.size() ? beside[i - configurations.size()].second
                                                                  : program_of(kernel, configurations[i], problem));
    });
    check.compiled = compiled.size();
    for (std::size_t i = 0; i < beside.size(); ++i) {
        if (const auto* rejection = std::get_if<Rejection>(&compiled[configurations.size() + i])) {
            check.findings.push_back({true, beside[i].first, rejection->reason});
        }
    }
    for (std::size_t i = 0; i < configurations.size(); ++i) {
        judge(kernel, problem, device, configurations[i], compiled[i], check);
    }
    find_without_effect(kernel, configurations, compiled, check);
    find_misplaced("the kernel", kernel.files.at(kernel.source_path),
                   base_name(entry_of(kernel, default_configuration(kernel))), passed_arguments(kernel.operation, true),
                   true, check);
    if (kernel.operation.reference.has_source() && !kernel.operation.reference.is_verifier()) {
        find_misplaced("reference", kernel.files.at(kernel.operation.reference_path), "reference",
                       passed_arguments(kernel.operation, false), false, check);
    }
    return check;
}

}  // namespace smemtune
