#include "templates/catalog.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "templates/hash.h"
#include "templates/manifest.h"

namespace smemtune {

namespace {

constexpr std::string_view generated_header = "configuration.h";

const std::string& file(const SourceTree& tree, const SourceTree& library, const std::string& path,
                        const std::string& wanted_by) {
    if (const auto found = tree.find(path); found != tree.end()) return found->second;
    if (const auto found = library.find(path); found != library.end()) return found->second;
    throw ManifestError(wanted_by + ":1: file '" + path + "' is missing; put it there, or name the right one");
}

// Adds a source with everything that it includes by quotes, beside it or under the root of the tree.
void collect(const SourceTree& tree, const SourceTree& library, const std::string& path, const std::string& wanted_by,
             SourceTree& files) {
    const auto& text = file(tree, library, path, wanted_by);
    if (!files.emplace(path, text).second) return;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto start = line.find_first_not_of(" \t");
        if (start == std::string::npos || !line.substr(start).starts_with("#include \"")) continue;
        const auto open = line.find('"');
        const auto name = line.substr(open + 1, line.find('"', open + 1) - open - 1);
        if (name != generated_header) collect(tree, library, name, path, files);
    }
}

std::string hash_of(const KernelTemplate& kernel) {
    std::string text;
    const auto add = [&](const std::string& part) { text += std::to_string(part.size()) + ":" + part; };
    // The reference and the manifests' words do not change what a kernel is; its code and its launch do.
    SourceTree code;
    collect(kernel.files, {}, kernel.source_path, kernel.path, code);
    for (const auto& [path, content] : code) add(content);
    for (const auto& expression : kernel.block) add(expression.text());
    for (const auto& expression : kernel.grid) add(expression.text());
    add(kernel.dynamic_shared_bytes.text());
    for (const auto& argument : kernel.operation.arguments) add(argument.name);
    return content_hash(text);
}

bool is_manifest(const std::string& path) { return path.ends_with(".toml"); }

}  // namespace

SourceTree read_sources(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    SourceTree tree;
    try {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            const auto extension = entry.path().extension();
            if (!entry.is_regular_file() || (extension != ".toml" && extension != ".cu" && extension != ".h")) continue;
            std::ifstream stream(entry.path(), std::ios::binary);
            std::ostringstream text;
            text << stream.rdbuf();
            if (!stream) throw ManifestError(entry.path().string() + ":1: cannot be read");
            tree[fs::relative(entry.path(), folder).generic_string()] = text.str();
        }
    } catch (const fs::filesystem_error& error) {
        throw ManifestError("templates folder '" + folder.string() + "': " + error.code().message());
    }
    if (std::ranges::none_of(tree, [](const auto& each) { return is_manifest(each.first); })) {
        throw ManifestError("templates folder '" + folder.string() +
                            "' holds no manifest; a kernel is two files, NAME.cu and NAME.toml");
    }
    return tree;
}

std::vector<KernelTemplate> load_templates(const SourceTree& tree, const SourceTree& library) {
    Operations operations;
    for (const auto* each : {&library, &tree}) {
        for (const auto& [path, text] : *each) {
            if (!is_manifest(path)) continue;
            if (auto operation = parse_operation(path, text)) operations[operation->name] = std::move(*operation);
        }
    }
    std::vector<KernelTemplate> templates;
    for (const auto& [path, text] : tree) {
        if (!is_manifest(path)) continue;
        auto kernel = parse_template(path, text, operations);
        if (!kernel) continue;
        const auto same = std::ranges::find(templates, kernel->name, &KernelTemplate::name);
        if (same != templates.end()) {
            throw ManifestError(path + ":1: template '" + kernel->name + "' is also in " + same->path + "; rename one");
        }
        kernel->files[path] = text;
        collect(tree, library, kernel->source_path, path, kernel->files);
        collect(tree, library, kernel->operation.reference_path, kernel->operation.path, kernel->files);
        kernel->files[kernel->operation.path] = file(tree, library, kernel->operation.path, path);
        kernel->hash = hash_of(*kernel);
        templates.push_back(std::move(*kernel));
    }
    std::ranges::sort(templates, {}, [](const KernelTemplate& t) { return std::pair(t.operation.name, t.name); });
    return templates;
}

KernelTemplate load_template(const SourceTree& files) {
    auto templates = load_templates(files, {});
    if (templates.size() != 1) {
        throw ManifestError("a stored template has " + std::to_string(templates.size()) + " manifests instead of one");
    }
    return std::move(templates.front());
}

}  // namespace smemtune
