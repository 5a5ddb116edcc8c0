#include "tuner/shipping/export_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "templates/manifest/section.h"

namespace smemtune {

namespace {

// Whether C++ reserves this word, so that no parameter or class can have it as its name.
bool is_keyword(const std::string& name) {
    static const std::set<std::string> keywords{
        "alignas", "alignof",  "and",       "asm",      "auto",     "bool",      "break", "case",   "catch",
        "char",    "class",    "const",     "continue", "default",  "delete",    "do",    "double", "else",
        "enum",    "explicit", "export",    "extern",   "false",    "float",     "for",   "friend", "goto",
        "if",      "inline",   "int",       "long",     "mutable",  "namespace", "new",   "not",    "operator",
        "or",      "private",  "protected", "public",   "register", "return",    "short", "signed", "sizeof",
        "static",  "struct",   "switch",    "template", "this",     "throw",     "true",  "try",    "typedef",
        "union",   "unsigned", "using",     "virtual",  "void",     "volatile",  "while", "xor"};
    return keywords.contains(name);
}

// Returns the name of a C++ parameter for an argument. It differs from keywords and from the names that the header
// itself uses.
std::string parameter_name(const std::string& name) {
    if (!is_identifier(name)) {
        throw std::invalid_argument("'" + name + "' is no name in C++; rename the argument in the manifest");
    }
    const bool is_taken = is_keyword(name) || name == "runtime" || name == "stream" || name == "layout";
    return is_taken ? name + "_" : name;
}

// Returns a parameter's type. The types need no header of CUDA: a __half is passed as its bits, and the address of
// vectors or structs as void*.
std::string type_text(const Argument& argument, const std::string& element) {
    const auto type = type_of(argument, element);
    const bool is_plain = type.lanes == 1 && !type.number->is_half();
    if (!argument.is_matrix()) return type.number->is_half() ? "unsigned short" : type.cpp_name();
    return (argument.kind == Argument::Kind::input ? "const " : "") + (is_plain ? type.cpp_name() : "void") + "*";
}

// Returns comments on the arguments whose C++ type does not show the type of the elements.
std::string remarks_on(const Operation& operation, const std::string& element) {
    std::string text;
    for (const auto& argument : operation.arguments) {
        const auto type = type_of(argument, element);
        if (type.lanes == 1 && !type.number->is_half()) continue;
        text += fmt::format("    /// {}: {}{}\n", parameter_name(argument.name),
                            type.is_struct ? type.name().substr(6) + " bytes each" : type.cpp_name(),
                            argument.is_matrix() ? "" : ", its bits");
    }
    return text;
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

bool is_extent(const Operation& operation, const Argument& argument) {
    return argument.kind == Argument::Kind::extent && std::ranges::count(operation.extents, argument.name) > 0;
}

}  // namespace

std::string header_of(const Operation& operation, const std::string& type) {
    std::vector<std::string> sizes;    // declarations of the constructor's parameters
    std::vector<std::string> given;    // arguments of a call of the constructor
    std::vector<std::string> extents;  // initialisers of the problem's extents
    std::string members;
    std::string initial;
    for (const auto& extent : operation.extents) {
        const auto name = parameter_name(extent);
        sizes.push_back("std::int64_t " + name);
        given.push_back(name);
        extents.push_back(fmt::format("{{\"{}\", {}}}", extent, name));
        const bool is_passed = std::ranges::any_of(operation.arguments, [&](const Argument& argument) {
            return is_extent(operation, argument) && argument.name == extent;
        });
        if (!is_passed) continue;
        members += fmt::format("    std::int64_t {}_;\n", name);
        initial += fmt::format("{}_({}), ", name, name);
    }
    std::vector<std::string> types;
    std::vector<std::string> parameters;  // declarations of a launch's parameters
    std::vector<std::string> passed;
    std::vector<std::string> handed;
    for (const auto& argument : operation.arguments) {
        const auto name = parameter_name(argument.name);
        const auto its = type_text(argument, type);
        types.push_back(its);
        if (is_extent(operation, argument)) {
            passed.push_back(fmt::format("static_cast<{}>({}_)", its, name));
            continue;
        }
        parameters.push_back(its + " " + name);
        passed.push_back(name);
        handed.push_back(name);
    }
    std::string layout = "\"\"";
    if (!operation.layouts.empty()) {
        layout = "layout";
        sizes.insert(sizes.begin(), "const std::string& layout");
        given.insert(given.begin(), "layout");
    }
    const auto name = parameter_name(operation.name);
    auto launch = parameters;
    launch.insert(launch.begin(), "CUstream_st* stream");
    passed.insert(passed.begin(), "stream");
    handed.insert(handed.begin(), "stream");
    auto both = sizes;
    both.insert(both.begin(), "smemtune::Runtime& runtime");
    auto all = both;
    all.insert(all.end(), launch.begin(), launch.end());
    auto fetched = given;
    fetched.insert(fetched.begin(), "runtime");
    return fmt::format(
        R"(// The tuned kernel of operation {operation}, with its signature. Written by 'smemtune export-header {operation}': write it
// again when the manifest's arguments change.
#pragma once

#include <smemtune/runtime/runtime.h>

#include <cstdint>
#include <string>

namespace smemtune_kernels {{

/// {summary}
class {name} {{
public:
    /// Fetches the kernel for this size. Throws what Runtime::fetch() throws, and std::invalid_argument if the kernel
    /// takes other arguments than when this header was written.
    {explicit_}{name}({constructor})
        : {initial}kernel_(runtime.fetch({{.operation = "{operation}",
                                  .type = "{type}",
                                  .layout = {layout},
                                  .extents = {{{extents}}}}})) {{}}

    /// Enqueues the kernel on the stream. All addresses are those of device memory.
{remarks}    void operator()({launch}) const {{
        kernel_({passed});
    }}

    [[nodiscard]] const smemtune::Kernel& kernel() const {{ return kernel_.kernel(); }}

private:
{members}    smemtune::TypedKernel<{types}> kernel_;
}};

/// Fetches the kernel and enqueues it. The fetch takes no time after the first call for a size.
inline void launch_{operation}({all}) {{
    const {name} tuned({fetched});
    tuned({handed});
}}

}}  // namespace smemtune_kernels
)",
        fmt::arg("operation", operation.name),
        fmt::arg("summary", operation.summary.empty() ? "Operation " + operation.name : operation.summary),
        fmt::arg("name", name), fmt::arg("explicit_", both.size() == 1 ? "explicit " : ""),
        fmt::arg("constructor", joined(both)), fmt::arg("initial", initial), fmt::arg("type", type),
        fmt::arg("layout", layout), fmt::arg("extents", joined(extents)),
        fmt::arg("remarks", remarks_on(operation, type)), fmt::arg("launch", joined(launch)),
        fmt::arg("passed", joined(passed)), fmt::arg("members", members), fmt::arg("types", joined(types)),
        fmt::arg("all", joined(all)), fmt::arg("fetched", joined(fetched)), fmt::arg("handed", joined(handed)));
}

}  // namespace smemtune
