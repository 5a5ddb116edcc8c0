#include "tuner/authoring/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
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

std::string values_for(const std::string& value) {
    if (value.empty()) return "[0, 1]";
    if (value.size() > 6) return "[" + value + "]";
    const auto number = std::stoi(value);
    const bool power = number > 1 && (number & (number - 1)) == 0;
    return power ? fmt::format("[{}, {}, {}]", number / 2, number, number * 2) : "[" + value + "]";
}

}  // namespace

std::string draft_manifest(const std::string& file_name, const std::string& source) {
    const auto plain = without_comments(source);
    static const std::regex kernel(
        R"((template\s*<([^{};]*)>\s*)?(?:extern\s*"C"\s*)?(?:static\s+)?__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+)?(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^{;]*)\)\s*\{)");
    std::smatch match;
    for (auto at = plain.begin(); std::regex_search(at, plain.end(), match, kernel) && match[3] == "reference";) {
        at = match[0].second;
    }
    if (match.empty()) {
        throw std::invalid_argument(file_name + ": there is no __global__ function; name the file with the kernel");
    }
    const std::string name = match[3];
    const auto arguments = declared_arguments(match[4]);
    const auto parameters = parameters_of(source, arguments);
    std::vector<std::string> extents;
    for (const auto& each : arguments) {
        if (!each.pointer && each.type == "int") extents.push_back(each.name);
    }
    std::string shape_rows = "1";
    std::string shape_columns = extents.empty() ? "1" : extents.front();
    if (extents.size() > 1) {
        shape_rows = extents[0];
        shape_columns = extents[1];
    }
    auto text = fmt::format(
        "# A draft by 'smemtune init {}'. Settle each TODO, then run 'smemtune check' on the folder.\n", file_name);
    text += fmt::format(
        "[template]\nname      = \"{0}\"\noperation = \"{0}\"\nsummary   = \"\"\ntypes     = [\"f32\"]\n", name);
    text += fmt::format("source    = \"{}\"\n", file_name);
    if (match[1].matched) {
        text +=
            fmt::format("entry     = \"{}<{}>\"  # TODO: its template arguments, such as float or a parameter's name\n",
                        name, fmt::join(template_parameters(match[1].str()), ", "));
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
    text += "\n[requires]\nhost = true  # the CPU can run it, for tests without a GPU\n";
    text += fmt::format("\n[operation]\nname       = \"{}\"\nextents    = [", name);
    for (std::size_t i = 0; i < extents.size(); ++i) text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", extents[i]);
    text += "]";
    if (extents.empty()) text += "  # TODO: the sizes of a problem";
    text += "\noperations = \"0\"  # TODO: arithmetic operations of a launch, for FLOP/s\n";
    text += "bytes      = \"0\"  # TODO: bytes that a launch moves at least, for GB/s\n";
    text += "terms      = \"1\"  # TODO: number of rounded operations that give one output element\n";
    text += fmt::format("reference  = \"{}\"  # TODO: write the kernel 'reference' there\n", file_name);
    for (const auto& each : arguments) {
        const bool matrix = each.pointer && each.type == "float";
        const auto* kind = matrix                                ? (each.constant ? "input" : "output")
                           : !each.pointer && each.type == "int" ? "extent"
                           : !each.pointer && (each.type == "long long" || each.type == "int64_t") ? "stride"
                                                                                                   : "scalar";
        text += fmt::format("\n[[operation.argument]]\nname = \"{}\"\nkind = \"{}\"", each.name, kind);
        if (!matrix && std::string_view(kind) == "scalar" && (each.pointer || each.type != "float")) {
            text += fmt::format("  # TODO: declared as {}{}, see docs/templates.md for argument types", each.type,
                                each.pointer ? "*" : "");
        }
        if (std::string_view(kind) == "stride") {
            text +=
                fmt::format("  # TODO: write stride = \"{}\" for the matrix whose rows are this far apart", each.name);
        }
        text += "\n";
        if (matrix) text += fmt::format("rows = \"{}\"  # TODO\ncolumns = \"{}\"  # TODO\n", shape_rows, shape_columns);
    }
    text += "\n[[operation.check]]\ninputs = \"uniform\"\n";
    std::string scalars;
    for (const auto& each : arguments) {
        if (!each.pointer && each.type == "float")
            scalars += fmt::format("{}{} = 1.5", scalars.empty() ? "" : ", ", each.name);
    }
    if (!scalars.empty()) text += "scalars = { " + scalars + " }\n";
    return text;
}

}  // namespace smemtune
