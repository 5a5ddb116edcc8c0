// smemtune export-header: writes a C++ header with the signature of an operation's kernel.
#include "tuner/shipping/export_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"

namespace smemtune {

namespace {

// Finds an operation by its name, or by the name of one of its templates.
Operation operation_named(const std::string& folders, const std::string& name) {
    for (const auto& kernel : choose_templates(folders, "")) {
        if (kernel.operation.name == name) return kernel.operation;
    }
    return find_template(folders, name).operation;
}

}  // namespace

int export_header_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "export-header",
                      .summary = "Write a C++ header for applications: a class and a function that fetch the tuned "
                                 "kernel of an operation and launch it with typed arguments.",
                      .words = "NAME",
                      .examples = {{"smemtune export-header histogram --templates ./kernels --output histogram.h",
                                    "For an operation of your own; NAME may also be one of its templates."}}});
    line.add_templates("Folders with kernels of your own.");
    line.add_type();
    line.add(
        {.name = "output", .value = "FILE", .summary = "The header; by default it is printed.", .default_value = ""});
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty()) {
        throw UsageError("export-header needs a name; write for example 'smemtune export-header histogram'");
    }
    const auto operation = operation_named(line.text("templates"), line.words().front());
    (void)element_type(line.text("type"));
    const auto text = header_of(operation, line.text("type"));
    const auto path = line.text("output");
    if (path.empty()) {
        fmt::print("{}", text);
        return success;
    }
    require_no_database(path);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw UsageError(fmt::format("{} cannot be written; choose another --output", path));
    return success;
}

}  // namespace smemtune
