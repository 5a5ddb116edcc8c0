#include "templates/manifest/catalog.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "templates/manifest/manifest.h"
#include "util/hash.h"

namespace smemtune {

namespace {

constexpr std::string_view generated_header = "configuration.h";

const std::string& file(const SourceTree& tree, const SourceTree& library, const std::string& path,
                        const std::string& wanted_at) {
    if (const auto found = tree.find(path); found != tree.end()) return found->second;
    if (const auto found = library.find(path); found != library.end()) return found->second;
    throw ManifestError(wanted_at + ": file '" + path + "' is missing; put it there (paths start at the templates " +
                        "folder), or name the right one");
}

// The file that a line of source includes in quotes, if any.
std::optional<std::string> included(std::string_view line) {
    for (const std::string_view token : {"#", "include", "\""}) {
        const auto start = line.find_first_not_of(" \t");
        if (start == std::string_view::npos || !line.substr(start).starts_with(token)) return std::nullopt;
        line.remove_prefix(start + token.size());
    }
    return std::string(line.substr(0, line.find('"')));
}

// Adds a source and, recursively, everything that it includes in quotes. Paths start at the root of the tree.
// `wanted_at` is FILE:LINE.
void collect(const SourceTree& tree, const SourceTree& library, const std::string& path, const std::string& wanted_at,
             SourceTree& files) {
    const auto& text = file(tree, library, path, wanted_at);
    if (!files.emplace(path, text).second) return;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const auto name = included(line);
        if (!name || *name == generated_header) continue;
        collect(tree, library, *name, path + ":" + std::to_string(number), files);
    }
}

std::string hash_of(const KernelTemplate& kernel) {
    std::string text;
    const auto add = [&](const std::string& part) { text += std::to_string(part.size()) + ":" + part; };
    // The hash leaves out the reference and the manifest's summaries. It covers what decides the machine code and the
    // launch.
    SourceTree code;
    collect(kernel.files, {}, kernel.source_path, kernel.path + ":1", code);
    add(kernel.name);
    for (const auto& [path, content] : code) add(content);
    for (const auto& expression : kernel.block) add(expression.text());
    for (const auto& expression : kernel.grid) add(expression.text());
    for (const auto& derived : kernel.derived) {
        if (derived.constant) add(derived.name + " = " + derived.expression.text());
    }
    add(kernel.dynamic_shared_bytes.text());
    if (kernel.workspace_bytes) add(kernel.workspace_bytes->text());
    for (const auto& argument : kernel.operation.arguments) {
        add(argument.name);
        add(std::to_string(static_cast<int>(argument.kind)));
    }
    // A launch tells several run-time parameters apart by their order. With a single one, the order need not be hashed.
    std::string runtime;
    for (const auto& parameter : kernel.parameters) {
        if (parameter.runtime) runtime += (runtime.empty() ? "" : ",") + parameter.name;
    }
    if (runtime.find(',') != std::string::npos) add(runtime);
    for (const auto& [layout, constants] : kernel.operation.layouts) {
        const bool used = kernel.layouts.empty() || std::ranges::count(kernel.layouts, layout) != 0;
        if (used) add(layout + ":" + to_text(Configuration{constants}));
    }
    return content_hash(text);
}

// The names that `configuration.h` gives a kernel, besides those of its operation.
std::set<std::string> constant_names_of(const KernelTemplate& kernel) {
    std::set<std::string> names;
    for (const auto& parameter : kernel.parameters) {
        if (!parameter.runtime) names.insert(parameter.name);
    }
    for (const auto& derived : kernel.derived) {
        if (derived.constant) names.insert(derived.name);
    }
    return names;
}

// A reference in a kernel's source is compiled with that source, for every kernel of the operation.
void check_references(const std::vector<KernelTemplate>& templates) {
    for (const auto& kernel : templates) {
        const auto own = constant_names_of(kernel);
        for (const auto& other : templates) {
            if (other.source_path != kernel.operation.reference_path ||
                std::ranges::includes(own, constant_names_of(other)))
                continue;
            throw ManifestError(kernel.path + ":1: the reference of operation '" + kernel.operation.name + "' is in " +
                                other.source_path + " with kernel '" + other.name + "', whose constants '" +
                                kernel.name + "' lacks; move the reference to a file of its own");
        }
    }
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
            tree[entry.path().lexically_relative(folder).generic_string()] = text.str();
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
            auto operation = parse_operation(path, text);
            if (!operation) continue;
            const auto same = operations.find(operation->name);
            if (same != operations.end() && each->contains(same->second.path) && same->second.path != path) {
                throw ManifestError(path + ":1: operation '" + operation->name + "' is also in " + same->second.path +
                                    "; rename one");
            }
            operations[operation->name] = std::move(*operation);
        }
    }
    const auto find = [&](const std::string& path, const std::string& wanted_at) -> const std::string& {
        return file(tree, library, path, wanted_at);
    };
    std::vector<KernelTemplate> templates;
    for (const auto& [path, text] : tree) {
        if (!is_manifest(path)) continue;
        auto kernel = parse_template(path, text, operations, find);
        if (!kernel) continue;
        const auto same = std::ranges::find(templates, kernel->name, &KernelTemplate::name);
        if (same != templates.end()) {
            throw ManifestError(path + ":1: template '" + kernel->name + "' is also in " + same->path + "; rename one");
        }
        kernel->files[path] = without_extends(path, text, find);  // needs no other kernel's files
        const auto& home = kernel->operation.path;
        collect(tree, library, kernel->source_path, path + ":1", kernel->files);
        collect(tree, library, kernel->operation.reference_path, home + ":1", kernel->files);
        // Leaves out the other kernel that may share the manifest, so that load_template finds one kernel.
        if (home != path) kernel->files[home] = operation_alone(home, file(tree, library, home, path + ":1"));
        kernel->hash = hash_of(*kernel);
        // A `same_code` list that does not name this version was written for a different version. It expires when the
        // source changes.
        if (std::erase(kernel->same_code_as, kernel->hash) == 0) kernel->same_code_as.clear();
        templates.push_back(std::move(*kernel));
    }
    check_references(templates);
    std::ranges::sort(templates, {}, [](const KernelTemplate& t) { return std::pair(t.operation.name, t.name); });
    return templates;
}

std::string operation_identity(const KernelTemplate& kernel_template, const Problem& problem) {
    const auto& operation = kernel_template.operation;
    std::string text;
    const auto add = [&](const std::string& part) { text += std::to_string(part.size()) + ":" + part; };
    add(operation.name);
    add(operation.definition);
    if (const auto layout = operation.layouts.find(problem.layout); layout != operation.layouts.end()) {
        add(to_text(Configuration{layout->second}));
    }
    SourceTree reference;
    collect(kernel_template.files, {}, operation.reference_path, operation.path + ":1", reference);
    for (const auto& [path, content] : reference) add(content);
    return sha256(text).substr(0, 32);
}

KernelTemplate load_template(const SourceTree& files) {
    auto templates = load_templates(files, {});
    if (templates.size() != 1) {
        throw ManifestError("a stored template has " + std::to_string(templates.size()) + " manifests instead of one");
    }
    return std::move(templates.front());
}

}  // namespace smemtune
