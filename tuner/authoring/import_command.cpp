// smemtune import: writes a manifest for a problem that another tuner's file describes.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tuner/authoring/t1.h"
#include "tuner/cli/command_line.h"
#include "tuner/commands/command.h"

namespace smemtune {

namespace {

std::string text_of_file(const std::filesystem::path& path, const std::string& what) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw UsageError(fmt::format("{} cannot be read; name {}", path.string(), what));
    return text.str();
}

// Turns a name into a C++ identifier: `GEMM-CAFF` into `GEMM_CAFF`.
std::string identifier_of(std::string name) {
    for (auto& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "problem_" + name : name;
}

// Whether the folder of `manifest` has other manifests. If it does, `--templates FOLDER` needs `--operation`, too.
bool has_neighbours(const std::filesystem::path& manifest) {
    const auto folder = manifest.has_parent_path() ? manifest.parent_path() : std::filesystem::path(".");
    const std::filesystem::directory_iterator entries(folder);
    return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
        return entry.path().extension() == ".toml" && entry.path().filename() != manifest.filename();
    });
}

}  // namespace

int import_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "import",
         .summary = "Convert a problem in the T1 format (CAFF) of Kernel Tuner, KTT and BAT to a manifest in the same "
                    "folder, and list what the manifest leaves out. The kernel's source stays as it is.",
         .words = "FILE.json",
         .examples = {{"smemtune import GEMM/GEMM-CAFF.json", "Writes GEMM/GEMM-CAFF.toml."}}});
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    if (line.words().empty())
        throw UsageError("import needs a file; write for example 'smemtune import GEMM-CAFF.json'");
    const std::filesystem::path path(line.words().front());
    const auto file = nlohmann::json::parse(text_of_file(path, "a problem in the T1 format"), nullptr, false);
    if (file.is_discarded()) throw UsageError(path.string() + " is no JSON; name a problem in the T1 format");
    auto manifest = path;
    manifest.replace_extension(".toml");
    if (std::filesystem::exists(manifest)) {
        throw UsageError(fmt::format("{} exists; remove it, or rename the JSON file", manifest.string()));
    }
    ImportedProblem imported;
    const auto name = identifier_of(path.stem().string());
    try {
        const auto source = text_of_file(path.parent_path() / t1_source_path(file), "a readable file in 'KernelFile'");
        imported = import_t1(file, name, source);
    } catch (const std::invalid_argument& error) {
        throw UsageError(path.string() + ": " + error.what());
    }
    std::ofstream out(manifest, std::ios::binary);
    out << imported.manifest;
    out.close();
    if (!out) throw UsageError(fmt::format("{} cannot be written", manifest.string()));
    for (const auto& each : imported.left_out) fmt::print("not carried over: {}\n", each);
    const auto folder = path.has_parent_path() ? path.parent_path().string() : ".";
    fmt::print("{}: run 'smemtune --templates {}{} --sizes {}'\n", manifest.string(), folder,
               has_neighbours(manifest) ? " --operation " + name : "", imported.sizes);
    return success;
}

}  // namespace smemtune
