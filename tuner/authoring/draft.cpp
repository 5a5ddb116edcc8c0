#include "tuner/authoring/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <vector>

#include "templates/source/source_scan.h"
#include "tuner/authoring/signature.h"

namespace smemtune {

namespace {

// Returns the names in the source that may be parameters. Each maps to its value in a `#define`, or to an empty text.
std::map<std::string, std::string> parameters_of(const std::string& source,
                                                 const std::vector<DeclaredArgument>& arguments) {
    std::map<std::string, std::string> found;
    const auto plain = without_comments(source);
    for (const auto& name : names_in_conditions({lines_of(source)})) {
        const bool reserved =
            name == "defined" || name.starts_with("_") || name.ends_with("_H") || name.ends_with("_HPP");
        if (!reserved && name != "true" && name != "false") found[name] = "";
    }
    static const std::regex definition(R"(#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d+)\)?[ \t]*(?=\n|$))");
    for (std::sregex_iterator at(plain.begin(), plain.end(), definition), end; at != end; ++at) {
        found[(*at)[1]] = (*at)[2];
    }
    // A macro that has arguments, or whose value is no number, is not a parameter, even if a condition names it.
    static const std::regex function_like(R"(#[ \t]*define[ \t]+(\w+)(?:\(|[ \t]+[^\d\s(]))");
    for (std::sregex_iterator at(plain.begin(), plain.end(), function_like), end; at != end; ++at)
        found.erase((*at)[1]);
    for (const auto& argument : arguments) found.erase(argument.name);
    return found;
}

// Whether the argument has a type that it may have in an operation on matrices of floats. If all arguments do, the
// manifest need not give their types.
bool is_of_elements(const std::string& source, const DeclaredArgument& argument) {
    const auto type = number_type(source, argument.type).value_or("");
    return type == "f32" || (!argument.pointer && (type == "i32" || type == "i64"));
}

bool is_extent(const std::string& source, const DeclaredArgument& argument, bool typed) {
    const auto type = number_type(source, argument.type).value_or("");
    return !argument.pointer && (type == "i32" || type == "u32" || type == "u64" || (typed && type == "i64"));
}

// A pointer to numbers that are not const is taken for an output.
constexpr const char* inout_note = "  # TODO: inout, with values, if the kernel also reads it";

// The `[[operation.argument]]` of an operation on matrices of floats.
std::string matrix_argument(const std::string& source, const DeclaredArgument& declared,
                            const std::vector<std::string>& extents) {
    const auto type = number_type(source, declared.type);
    const auto* kind = declared.pointer ? (declared.constant ? "input" : "output")
                       : type == "f32"  ? "scalar"
                       : type == "i64"  ? "stride"
                                        : "extent";
    auto text = fmt::format("\n[[operation.argument]]\nname = \"{}\"\nkind = \"{}\"", declared.name, kind);
    if (!declared.pointer && type == "i64") {
        text +=
            fmt::format("  # TODO: write stride = \"{}\" for the matrix whose rows are this far apart", declared.name);
    }
    text += "\n";
    if (!declared.pointer) return text;
    if (!declared.constant) text.insert(text.size() - 1, inout_note);
    const auto rows = extents.size() > 1 ? extents[0] : "1";
    const auto columns = extents.empty() ? "1" : extents[extents.size() > 1 ? 1 : 0];
    return text + fmt::format("rows = \"{}\"  # TODO\ncolumns = \"{}\"  # TODO\n", rows, columns);
}

// The `[[operation.argument]]` of an operation that declares the types of its arguments.
std::string typed_argument(const std::string& source, const DeclaredArgument& declared,
                           const std::vector<std::string>& extents) {
    auto text = fmt::format("\n[[operation.argument]]\nname = \"{}\"\n", declared.name);
    auto type = number_type(source, declared.type);
    if (!declared.pointer && type && type->find('x') != std::string::npos) type.reset();  // no scalar is a vector
    const auto type_text =
        type ? fmt::format("type = \"{}\"\n", *type)
        : declared.pointer
            ? fmt::format("type = \"bytes:4\"  # TODO: declared as {}*; write bytes:SIZE for a struct\n", declared.type)
            : fmt::format("type = \"i32\"  # TODO: declared as {}; see docs/templates.md for types\n", declared.type);
    const bool is_floating = type && (type->starts_with("f") || type->starts_with("bf"));
    if (declared.pointer) {
        text +=
            declared.constant ? std::string("kind = \"input\"\n") : fmt::format("kind = \"output\"{}\n", inout_note);
        text += type_text + fmt::format("shape = [\"{}\"]  # TODO\n",
                                        extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, "\", \"")));
        if (declared.constant && !type) text += "values = { constant = 0 }  # TODO\n";
        if (declared.constant && type && !is_floating)
            text += "values = { uniform = [0, 1] }  # TODO: if these are indices, { below = ... }\n";
        return text;
    }
    if (type == "i64") {
        return text + "kind = \"extent\"  # TODO: or stride, if rows of a matrix are this far apart\n" + type_text;
    }
    if (is_extent(source, declared, true)) return text + "kind = \"extent\"\n" + type_text;
    return text + "kind = \"scalar\"\n" + type_text + (is_floating ? "value = 1.5  # TODO\n" : "value = 1  # TODO\n");
}

struct TemplateArguments {
    std::set<std::string> types;      // names of type parameters, for which the draft takes float
    std::vector<std::string> values;  // one for each parameter: float, or the parameter's name
};

// `list` is what stands between the angle brackets of `template <...>`.
TemplateArguments template_arguments(const std::string& list) {
    TemplateArguments result;
    static const std::regex parameter(R"(\s*(?:(typename|class)\b)?[^,=]*?(\w+)\s*(?:=[^,]*)?(?:,|$))");
    for (std::sregex_iterator at(list.begin(), list.end(), parameter), end; at != end; ++at) {
        const bool is_type = (*at)[1].matched;
        if (is_type) result.types.insert((*at)[2]);
        result.values.push_back(is_type ? "float" : (*at)[2].str());
    }
    return result;
}

std::string values_for(const std::string& value) {
    if (value.empty()) return "[0, 1]";
    if (value.size() > 6) return "[" + value + "]";
    const auto number = std::stoi(value);
    const bool power = number > 1 && (number & (number - 1)) == 0;
    return power ? fmt::format("[{}, {}, {}]", number / 2, number, number * 2) : "[" + value + "]";
}

// Matches the definition of a kernel: (1) `template <...>`, (2) its parameters, (3) the kernel's name, (4) its
// arguments.
const std::regex& kernel_definition() {
    static const std::regex kernel(
        R"((template\s*<([^{};]*)>\s*)?(?:extern\s*"C"\s*)?(?:static\s+)?__global__\s+(?:(?:void\b|__\w+__\s*\([^)]*\))\s*)*(\w+)\s*\(([^{;]*)\)\s*\{)");
    return kernel;
}

bool is_of_smemtune(const std::string& name) { return name == "reference" || name == "verify" || name == "prepare"; }

}  // namespace

std::vector<std::string> kernels_of(const std::string& source) {
    const auto plain = without_comments(source);
    std::vector<std::string> names;
    for (std::sregex_iterator at(plain.begin(), plain.end(), kernel_definition()), end; at != end; ++at) {
        const std::string name = (*at)[3];
        if (!is_of_smemtune(name) && std::ranges::count(names, name) == 0) names.push_back(name);
    }
    return names;
}

std::string draft_manifest(const std::string& file_name, const std::string& source, const std::string& kernel) {
    const auto plain = without_comments(source);
    std::smatch match;
    for (auto at = plain.begin(); std::regex_search(at, plain.end(), match, kernel_definition());) {
        if (kernel.empty() ? !is_of_smemtune(match[3]) : match[3] == kernel) break;
        at = match[0].second;
    }
    if (match.empty()) {
        const auto known = kernels_of(source);
        throw std::invalid_argument(
            known.empty()
                ? file_name + ": there is no __global__ function; name the file with the kernel"
                : fmt::format("{}: there is no kernel '{}'; known: {}", file_name, kernel, fmt::join(known, " ")));
    }
    const std::string name = match[3];
    auto arguments = declared_arguments(match[4]);
    const auto of_template = template_arguments(match[2]);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        auto& each = arguments[i];
        if (each.name.empty()) each.name = fmt::format("argument_{}", i + 1);
        if (of_template.types.contains(each.type)) each.type = "float";
        if (each.type.ends_with('*')) {
            throw std::invalid_argument(file_name + ": '" + each.name +
                                        "' is a pointer to pointers; smemtune has no arrays of pointers");
        }
    }
    auto parameters = parameters_of(source, arguments);
    for (const auto& each : of_template.values) {
        if (each != "float") parameters.try_emplace(each, "");
    }
    // A draft that is not typed describes matrices of floats, and takes arguments of type long long for strides. If no
    // other argument can be an extent, an argument of type long long is probably an extent, so the draft is typed.
    const bool typed =
        !std::ranges::all_of(arguments, [&](const auto& each) { return is_of_elements(source, each); }) ||
        std::ranges::none_of(arguments, [&](const auto& each) { return is_extent(source, each, false); });
    std::vector<std::string> extents;
    for (const auto& each : arguments) {
        if (is_extent(source, each, typed)) extents.push_back(each.name);
    }
    auto text = fmt::format(
        "# A draft by 'smemtune init {}'. Settle each TODO, then run 'smemtune check' on the folder.\n", file_name);
    text += fmt::format(
        "[template]\nname      = \"{0}\"\noperation = \"{0}\"\nsummary   = \"\"\ntypes     = [\"f32\"]\n", name);
    text += fmt::format("source    = \"{}\"\n", file_name);
    if (match[1].matched) {
        text +=
            fmt::format("entry     = \"{}<{}>\"  # TODO: its template arguments, such as float or a parameter's name\n",
                        name, fmt::join(of_template.values, ", "));
    }
    for (const auto& [parameter, value] : parameters) {
        text += fmt::format("\n[[parameter]]\nname   = \"{}\"\nvalues = {}  # TODO: the values to try\n", parameter,
                            values_for(value));
        if (!value.empty()) text += fmt::format("default = {}\n", value);
    }
    const auto block = std::ranges::find_if(parameters, [](const auto& each) {
        return each.first.find("BLOCK") != std::string::npos || each.first.find("THREADS") != std::string::npos ||
               each.first.find("block") != std::string::npos;
    });
    const auto threads = block == parameters.end() ? "256" : block->first;
    text += fmt::format("\n[launch]\nblock = [\"{}\"]  # TODO: threads of a block: x, y, z\n", threads);
    text += fmt::format("grid  = [\"ceil_div({}, {})\"]  # TODO: blocks: x, y, z\n",
                        extents.empty()      ? "1"
                        : extents.size() > 1 ? extents[0] + " * " + extents[1]
                                             : extents[0],
                        threads);
    if (plain.find("extern __shared__") != std::string::npos) {
        text += "dynamic_shared_bytes = \"0\"  # TODO: bytes of its extern __shared__ array\n";
    }
    const bool has_16_bit_floats = std::ranges::any_of(arguments, [&](const auto& each) {
        const auto type = number_type(source, each.type).value_or("");
        return type.starts_with("f16") || type.starts_with("bf16");
    });
    text += "\n[requires]\n";
    text += has_16_bit_floats ? "host = false  # the host device has no arrays of f16 and bf16\n"
                              : "host = true  # the CPU can run it, for tests without a GPU\n";
    text += fmt::format("\n[operation]\nname       = \"{}\"\nextents    = [", name);
    for (std::size_t i = 0; i < extents.size(); ++i) text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", extents[i]);
    text += "]";
    if (extents.empty()) text += "  # TODO: the sizes of a problem";
    text += "\noperations = \"0\"  # TODO: arithmetic operations of a launch, for FLOP/s\n";
    text += "bytes      = \"0\"  # TODO: bytes that a launch moves at least, for GB/s\n";
    text += "terms      = \"1\"  # TODO: number of rounded operations that give one output element\n";
    text += fmt::format("reference  = \"{}\"{}\n", file_name,
                        kernel_arguments(source, "reference") ? "" : "  # TODO: write the kernel 'reference' there");
    for (const auto& each : arguments)
        text += typed ? typed_argument(source, each, extents) : matrix_argument(source, each, extents);
    text += "\n[[operation.check]]\ninputs = \"uniform\"\n";
    std::string scalars;
    for (const auto& each : arguments) {
        if (!typed && !each.pointer && number_type(source, each.type) == "f32")
            scalars += fmt::format("{}{} = 1.5", scalars.empty() ? "" : ", ", each.name);
    }
    if (!scalars.empty()) text += "scalars = { " + scalars + " }\n";
    return text;
}

}  // namespace smemtune
