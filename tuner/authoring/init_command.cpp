// smemtune init: writes the first draft of a manifest into the folder of a kernel's source.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tuner/authoring/draft.h"
#include "tuner/cli/command_line.h"
#include "tuner/commands/command.h"

namespace smemtune {

int init_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "init",
                      .summary = "Write the first draft of a manifest beside a kernel's source: arguments by their "
                                 "types, parameters that its preprocessor names. TODO marks each guess.",
                      .words = "FILE.cu",
                      .examples = {{"smemtune init my_kernels/stencil.cu", "Writes my_kernels/stencil.toml."}}});
    line.add({.name = "kernel",
              .value = "NAME",
              .summary = "The kernel to draft a manifest for. Default: the first kernel of the source.",
              .default_value = ""});
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty()) throw UsageError("init needs a source; write for example 'smemtune init stencil.cu'");
    const std::filesystem::path path(line.words().front());
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream source;
    source << stream.rdbuf();
    if (!stream) throw UsageError(fmt::format("{} cannot be read; name a kernel's source", path.string()));
    auto manifest = path;
    manifest.replace_extension(".toml");
    if (std::filesystem::exists(manifest)) {
        throw UsageError(fmt::format("{} exists; remove it, or rename the source", manifest.string()));
    }
    const auto text = draft_manifest(path.filename().string(), source.str(), line.text("kernel"));
    std::ofstream out(manifest, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw UsageError(fmt::format("{} cannot be written", manifest.string()));
    const auto kernels = kernels_of(source.str());
    if (line.text("kernel").empty() && kernels.size() > 1) {
        fmt::print(
            "{} has {} kernels: {}; the draft is for the first; for another one, remove {} and add --kernel NAME\n",
            path.string(), kernels.size(), fmt::join(kernels, " "), manifest.string());
    }
    fmt::print("{}: settle each TODO, then run 'smemtune check {}'\n", manifest.string(),
               path.has_parent_path() ? path.parent_path().string() : ".");
    return success;
}

}  // namespace smemtune
