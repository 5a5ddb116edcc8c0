#include "templates/manifest/kernel_template.h"

#include <algorithm>
#include <stdexcept>

#include "templates/source/source_scan.h"
#include "templates/space/value.h"

namespace smemtune {

const ElementType& element_type(std::string_view name) {
    // Tensor cores truncate a sum to FP32 and do not round it. Therefore the unit roundoff of their sums is 2^-23,
    // twice that of rounding to nearest.
    static constexpr std::array types{
        ElementType{"f32", "using Element = float;", 4, 0x1p-24, "f32", 0x1p-24, "f32", 24},
        ElementType{"f16",
                    "struct Element {\n    static constexpr int significand_bits = 11;\n    unsigned short bits;\n};",
                    2, 0x1p-11, "f32", 0x1p-23, "f16", 11},
        ElementType{"bf16",
                    "struct Element {\n    static constexpr int significand_bits = 8;\n    unsigned short bits;\n};", 2,
                    0x1p-8, "f32", 0x1p-23, "bf16", 8},
        // tf32: inputs and results are FP32 in memory. Tensor cores use only 11 bits of an input's significand.
        ElementType{"tf32", "using Element = float;", 4, 0x1p-24, "f32", 0x1p-23, "f32", 11},
        // 3xtf32: like f32, but each product of FP32 is computed as three products of TF32.
        ElementType{"3xtf32", "using Element = float;", 4, 0x1p-24, "f32", 0x1p-24, "f32", 24, 8},
    };
    const auto* found = std::ranges::find(types, name, &ElementType::name);
    if (found != types.end()) return *found;
    std::string known;
    for (const auto& type : types) known += " " + std::string(type.name);
    throw std::invalid_argument("type '" + std::string(name) + "' is unknown; known:" + known);
}

ArgumentType type_of(const Argument& argument, std::string_view element) {
    if (argument.type) return *argument.type;
    switch (argument.kind) {
        case Argument::Kind::extent: return argument_type("i32");
        case Argument::Kind::stride:
        case Argument::Kind::batch_stride: return argument_type("i64");
        case Argument::Kind::scalar: return argument_type(element_type(element).wide);
        default: return argument_type(element_type(element).number);
    }
}

Shape shape_of(const Argument& argument, const Environment& environment) {
    return {argument.rows.evaluate(environment), argument.columns.evaluate(environment),
            argument.count.evaluate(environment)};
}

std::optional<std::string> why_unsupported(const KernelTemplate& kernel_template, const Problem& problem,
                                           const Device& device) {
    const auto lacks = [](const std::vector<std::string>& list, const std::string& item) {
        return std::ranges::find(list, item) == list.end();
    };
    const auto listed = [](std::string text, const std::vector<std::string>& list) {
        for (const auto& item : list) text += " " + item;
        return text;
    };
    const auto& of = kernel_template;
    if (of.operation.name != problem.operation) return "computes " + of.operation.name;
    if (lacks(of.types, problem.type)) return listed("types:", of.types);
    if (!of.layouts.empty() && lacks(of.layouts, problem.layout)) return listed("layouts:", of.layouts);
    if (device.is_host() && !of.host) return "no host = true under [requires] in its manifest";
    if (device.is_host()) {
        for (const auto& argument : of.operation.arguments) {
            if (!argument.type || !argument.type->number->is_half()) continue;
            return "argument '" + argument.name + "' has type " + argument.type->name() +
                   ", which the host device lacks; tune it on a GPU";
        }
    }
    const auto as_text = [](std::int64_t capability) {
        return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
    };
    if (!device.is_host() && device.compute_capability < of.compute_capability) {
        return "needs compute capability " + as_text(of.compute_capability);
    }
    if (!device.is_host() && of.highest_compute_capability &&
        device.compute_capability > *of.highest_compute_capability) {
        return "runs up to compute capability " + as_text(*of.highest_compute_capability) + " only";
    }
    return std::nullopt;
}

bool supports(const KernelTemplate& kernel_template, const Problem& problem, const Device& device) {
    return !why_unsupported(kernel_template, problem, device);
}

Environment environment_of(const Operation& operation, const Problem& problem, const Device& device) {
    auto environment = environment_of(device);
    environment["element_bytes"] = element_type(problem.type).bytes;
    if (!operation.layouts.empty()) {
        const auto layout = operation.layouts.find(problem.layout);
        if (layout == operation.layouts.end()) {
            std::string known;
            for (const auto& [name, constants] : operation.layouts) known += " " + name;
            throw std::invalid_argument("layout '" + problem.layout + "' is unknown to " + operation.name +
                                        "; known:" + known);
        }
        environment.insert(layout->second.begin(), layout->second.end());
    }
    if (!std::ranges::equal(problem.extents, operation.extents, {}, [](const auto& extent) { return extent.first; })) {
        std::string names;
        for (const auto& name : operation.extents) names += (names.empty() ? "" : "x") + name;
        throw std::invalid_argument("size '" + size_text(problem) + "' does not fit " + operation.name + "; write " +
                                    names);
    }
    for (const auto& [name, value] : problem.extents) {
        if (!is_valid_extent(value)) {
            throw std::invalid_argument("extent " + name + "=" + std::to_string(value) + " is not in 1..2147483647");
        }
        environment[name] = value;
    }
    for (const auto& [name, value] : operation.parameters) environment[name] = value;
    return environment;
}

Configuration default_configuration(const KernelTemplate& kernel_template) {
    Configuration configuration;
    for (const auto& parameter : kernel_template.parameters)
        configuration.values[parameter.name] = parameter.default_value;
    return configuration;
}

Configuration compiled_part(const KernelTemplate& kernel_template, const Configuration& configuration) {
    auto part = configuration;
    for (const auto& parameter : kernel_template.parameters) {
        if (!parameter.is_compiled()) part.values.erase(parameter.name);
    }
    return part;
}

bool KernelTemplate::is_same_code(const std::string& other) const {
    return other == hash || std::ranges::find(same_code_as, other) != same_code_as.end();
}

std::vector<std::string> KernelTemplate::same_code_hashes() const {
    std::vector<std::string> hashes{hash};
    hashes.insert(hashes.end(), same_code_as.begin(), same_code_as.end());
    return hashes;
}

std::string KernelTemplate::entry_name() const { return entry.empty() ? name : base_name(entry); }

std::string entry_of(const KernelTemplate& kernel_template, const Configuration& configuration) {
    if (kernel_template.entry.empty()) return kernel_template.name;
    return substituted(kernel_template.entry, [&](const std::string& word) -> std::optional<std::string> {
        const auto value = configuration.values.find(word);
        return value == configuration.values.end() ? std::nullopt : std::optional(value_text(value->second));
    });
}

namespace {

// Returns the names and values of the constant derived values, in the manifest's order.
std::vector<std::pair<std::string, std::int64_t>> constants_of(const KernelTemplate& kernel_template,
                                                               const Configuration& compiled, const Problem& problem) {
    Environment environment(compiled.values.begin(), compiled.values.end());
    environment["element_bytes"] = element_type(problem.type).bytes;
    const auto& layouts = kernel_template.operation.layouts;
    if (const auto layout = layouts.find(problem.layout); layout != layouts.end()) {
        environment.insert(layout->second.begin(), layout->second.end());
    }
    std::vector<std::pair<std::string, std::int64_t>> constants;
    for (const auto& derived : kernel_template.derived) {
        if (derived.constant) constants.emplace_back(derived.name, derived.expression.evaluate(environment));
    }
    return constants;
}

}  // namespace

std::string render(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem) {
    const auto compiled = compiled_part(kernel_template, configuration);
    std::string text = "// " + kernel_template.name + ": " + to_text(compiled) + "\n#pragma once\n";
    const auto define = [&](const std::string& name, std::int64_t value) {
        if (kernel_template.macros.contains(name)) {
            text += "#define " + name + " " + value_text(value) + "\n";
            return;
        }
        if (is_text_value(value)) return;  // a C++ template in the source declares this name
        const bool wide = value < -2147483647 || value > 2147483647;
        text += (wide ? "constexpr long long " : "constexpr int ") + name + " = " + std::to_string(value) + ";\n";
    };
    text += std::string(element_type(problem.type).declaration) + "\n";
    if (const auto layout = kernel_template.operation.layouts.find(problem.layout);
        layout != kernel_template.operation.layouts.end()) {
        for (const auto& [name, value] : layout->second) define(name, value);
    }
    for (const auto& [name, value] : compiled.values) define(name, value);
    for (const auto& [name, value] : constants_of(kernel_template, compiled, problem)) define(name, value);
    return text;
}

}  // namespace smemtune
