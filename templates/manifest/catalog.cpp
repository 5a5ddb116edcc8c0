#include "templates/manifest/catalog.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>

#include "templates/manifest/manifest.h"
#include "templates/manifest/section.h"
#include "templates/reference/reference_section.h"
#include "templates/source/source_scan.h"
#include "templates/space/value.h"
#include "util/hash.h"

namespace smemtune {

namespace {

// Returns PATH:LINE of the first line of the manifest that sets `key`; PATH:1 if no line does.
std::string place_of(const std::string& path, const std::string& text, const std::string& key) {
    std::istringstream lines(text);
    std::size_t number = 1;
    std::string line;
    while (std::getline(lines, line)) {
        const auto at = line.find_first_not_of(" \t");
        const bool is_key = at != std::string::npos && line.compare(at, key.size(), key) == 0;
        const auto next = is_key ? line.find_first_not_of(" \t", at + key.size()) : std::string::npos;
        if (next != std::string::npos && line[next] == '=') return path + ":" + std::to_string(number);
        ++number;
    }
    return path + ":1";
}

const std::string& file(const SourceTree& tree, const SourceTree& library, const std::string& path,
                        const std::string& wanted_at) {
    if (const auto found = tree.find(path); found != tree.end()) return found->second;
    if (const auto found = library.find(path); found != library.end()) return found->second;
    throw ManifestError(wanted_at + ": file '" + path + "' is missing; put it there (paths start at the templates " +
                        "folder), or name the right one");
}

bool is_in(const SourceTree& tree, const SourceTree& library, const std::string& path) {
    return tree.contains(path) || library.contains(path);
}

std::string in_folder(const std::string& folder, const std::string& name) {
    return (std::filesystem::path(folder) / name).lexically_normal().generic_string();
}

// Whether a header belongs to the CUDA Toolkit or to the C or C++ library, so that a templates folder need not have it.
bool is_system_header(const std::string& name) {
    static const std::set<std::string> known{"assert.h", "crt",      "curand_kernel.h", "device_launch_parameters.h",
                                             "float.h",  "limits.h", "math.h",          "math_constants.h",
                                             "mma.h",    "stddef.h", "stdint.h",        "stdio.h",
                                             "stdlib.h", "string.h", "vector_types.h"};
    const auto folder = name.substr(0, name.find('/'));
    return known.contains(name) || name.starts_with("cuda") || name.starts_with("cooperative_groups") ||
           (folder != name && (folder == "cub" || folder == "thrust" || folder == "nv" || folder == "cccl"));
}

// What a scan of a source's text finds: its includes, its lines and its template parameters. Only load_templates()
// needs lines and template parameters, so they are found when they are first asked for.
class Scan {
public:
    explicit Scan(const std::string& text) : text_(text), includes_(includes_of(text)) {}
    [[nodiscard]] const std::vector<Include>& includes() const { return includes_; }
    const std::vector<SourceLine>& lines() {
        if (!lines_) lines_ = lines_of(text_);
        return *lines_;
    }
    const std::set<std::string>& template_parameters() {
        if (!template_parameters_) template_parameters_ = smemtune::template_parameters(text_);
        return *template_parameters_;
    }

private:
    std::string text_;
    std::vector<Include> includes_;
    std::optional<std::vector<SourceLine>> lines_;
    std::optional<std::set<std::string>> template_parameters_;
};

// Scans each text only once, because many templates share the same headers.
class Scans {
public:
    Scan& of(const std::string& text) { return of_.try_emplace(text, text).first->second; }

private:
    std::unordered_map<std::string, Scan> of_;
};

// Returns the path of the file that an #include names. Looks in the root of the tree, then beside the including file,
// then in the include folders.
std::optional<std::string> resolved(const SourceTree& tree, const SourceTree& library, const std::string& name,
                                    const std::string& from, const std::vector<std::string>& folders) {
    const auto beside = in_folder(std::filesystem::path(from).parent_path().generic_string(), name);
    if (is_in(tree, library, name)) return name;
    if (is_in(tree, library, beside)) return beside;
    for (const auto& folder : folders) {
        if (auto path = in_folder(folder, name); is_in(tree, library, path)) return path;
    }
    return std::nullopt;
}

bool is_outside(const std::string& name) {
    const auto path = std::filesystem::path(name).lexically_normal();
    return path.is_absolute() || (!path.empty() && *path.begin() == "..");
}

[[noreturn]] void fail_missing(const std::string& name, const std::string& at) {
    throw ManifestError(at + ": file '" + name + "' is missing; " +
                        (is_outside(name)
                             ? "a templates folder holds all files of its kernels: put the file there and name it "
                               "by its path from there, or pass a folder above both with --templates"
                             : "put it there (paths start at the templates folder, at the including file's "
                               "folder or at an include folder), or name the right one"));
}

// Adds a source and, recursively, all files that it includes to `files`. `wanted_at` is the FILE:LINE that names the
// source, for messages.
void collect(const SourceTree& tree, const SourceTree& library, const std::string& path, const std::string& wanted_at,
             const std::vector<std::string>& folders, Scans& scans, SourceTree& files) {
    const auto& text = file(tree, library, path, wanted_at);
    if (!files.emplace(path, text).second) return;
    for (const auto& include : scans.of(text).includes()) {
        if (include.name == generated_header) continue;
        const auto found = resolved(tree, library, include.name, path, folders);
        const auto at = path + ":" + std::to_string(include.line);
        if (found) {
            if (include.quoted || !folders.empty()) collect(tree, library, *found, at, folders, scans, files);
        } else if (include.quoted && !include.disabled && !is_system_header(include.name)) {
            fail_missing(include.name, at);
        }
    }
}

std::string hash_of(const KernelTemplate& kernel, Scans& scans) {
    std::string text;
    const auto add = [&](const std::string& part) { text += std::to_string(part.size()) + ":" + part; };
    // The hash covers everything that decides the machine code and the launch. It covers neither the reference nor the
    // manifest's summaries.
    SourceTree code;
    collect(kernel.files, {}, kernel.source_path, kernel.path + ":1", kernel.include_folders, scans, code);
    add(kernel.name);
    for (const auto& [path, content] : code) add(content);
    for (const auto& expression : kernel.block) add(expression.text());
    for (const auto& expression : kernel.grid) add(expression.text());
    for (const auto& derived : kernel.derived) {
        if (derived.constant) add(derived.name + " = " + derived.expression.text());
    }
    add(kernel.dynamic_shared_bytes.text());
    if (kernel.workspace_bytes) add(kernel.workspace_bytes->text());
    for (const auto& map : kernel.tensor_maps) {
        add("tensor map " + std::to_string(map.matrix) + (map.swizzle ? ", swizzled" : ""));
        add(map.box_rows.text());
        add(map.box_columns.text());
        if (map.copy_at) add("copy at " + map.copy_at->text());
        if (map.copy_shape) add("of " + (*map.copy_shape)[0].text() + " by " + (*map.copy_shape)[1].text());
    }
    for (const auto& argument : kernel.operation.arguments) {
        add(argument.name);
        add(std::to_string(static_cast<int>(argument.kind)));
        if (argument.type) add("type " + argument.type->name());
        if (!argument.symbol.empty()) add("symbol " + argument.symbol);
    }
    // A kernel takes its run-time parameters in the manifest's order. The order matters, and is hashed, only if there
    // are several.
    std::string runtime;
    for (const auto& parameter : kernel.parameters) {
        if (parameter.runtime) runtime += (runtime.empty() ? "" : ",") + parameter.name;
    }
    if (runtime.find(',') != std::string::npos) add(runtime);
    for (const auto& [layout, constants] : kernel.operation.layouts) {
        const bool used = kernel.layouts.empty() || std::ranges::count(kernel.layouts, layout) != 0;
        if (used) add(layout + ":" + to_text(Configuration{constants}));
    }
    if (!kernel.entry.empty()) add("entry " + kernel.entry);
    for (const auto& option : kernel.options) add("option " + option);
    // Earlier versions of smemtune defined no macros (KernelTemplate::macros). If a source includes configuration.h
    // itself, they compiled it to different machine code. Therefore its macros are hashed, so that its hash differs
    // from the one in those versions. A source that does not include configuration.h could not use it in those
    // versions, so its hash need not differ.
    if (!kernel.source_needs.configuration) {
        for (const auto& name : kernel.macros) add("macro " + name);
    }
    return content_hash(text);
}

// Returns the names that configuration.h defines for a kernel: compile-time parameters and constant derived values.
std::set<std::string> constant_names_of(const KernelTemplate& kernel) {
    std::set<std::string> names;
    for (const auto& parameter : kernel.parameters) {
        if (parameter.is_compiled()) names.insert(parameter.name);
    }
    for (const auto& derived : kernel.derived) {
        if (derived.constant) names.insert(derived.name);
    }
    return names;
}

// Throws ManifestError if a source redefines one of `names`, because the value in configuration.h would have no effect.
void check_redefinitions(const SourceTree& files, const std::set<std::string>& names,
                         const std::vector<std::string>& options, Scans& scans) {
    std::set<std::string> macros;
    for (const auto& option : options) {
        const auto begin = option.starts_with("--define-macro=") ? 15U : 2U;
        if (begin == 15 || option.starts_with("-D"))
            macros.insert(option.substr(begin, option.find('=', begin) - begin));
    }
    for (const auto& [path, text] : files) {
        const auto found = redefinition(scans.of(text).lines(), names, macros);
        if (!found) continue;
        throw ManifestError(path + ":" + std::to_string(found->line) + ": '" + found->written +
                            "' replaces the value of '" + found->name +
                            "', which the manifest declares, so that every value would compile to the same code; " +
                            "remove the line, or put #ifndef " + found->name + " and #endif around it");
    }
}

// Throws ManifestError if the same name in two #include lines means two different files. NVRTC identifies a header only
// by the name in the #include line, and would use the first file for both.
void check_spellings(const KernelTemplate& kernel, const SourceTree& files, Scans& scans) {
    std::map<std::string, std::pair<std::string, std::string>> meaning;  // name in #include -> path and FILE:LINE
    for (const auto& [path, text] : files) {
        for (const auto& include : scans.of(text).includes()) {
            const auto found = resolved(files, {}, include.name, path, kernel.include_folders);
            if (!found) continue;
            const auto at = path + ":" + std::to_string(include.line);
            const auto& [first, first_at] = meaning.try_emplace(include.name, *found, at).first->second;
            if (first == *found) continue;
            throw ManifestError(at + ": '" + include.name + "' is " + *found + " here, and " + first + " at " +
                                first_at + "; write the paths from the templates folder, so that they differ");
        }
    }
}

// Throws ManifestError if an include folder of the manifest has no file. `text` is the text of the manifest.
void check_include_folders(const KernelTemplate& kernel, const SourceTree& tree, const SourceTree& library,
                           const std::string& text) {
    for (const auto& folder : kernel.include_folders) {
        const auto holds = [&](const SourceTree& files) {
            return std::ranges::any_of(files, [&](const auto& each) { return each.first.starts_with(folder + "/"); });
        };
        if (folder == "." || holds(tree) || holds(library)) continue;
        const auto table = parse_toml(kernel.path, text);
        const Section root(kernel.path, "manifest", table);
        const auto name =
            std::filesystem::path(folder).lexically_relative(std::filesystem::path(kernel.path).parent_path().empty()
                                                                 ? "."
                                                                 : std::filesystem::path(kernel.path).parent_path());
        root.section("template")
            ->fail_at("include", "'include' names '" + name.generic_string() +
                                     "', which holds no header; check its spelling (paths start at the "
                                     "manifest's folder)");
    }
}

SourceNeeds needs_of(const SourceTree& files, Scans& scans) {
    SourceNeeds needs{.configuration = true};
    for (const auto& [path, text] : files) {
        for (const auto& include : scans.of(text).includes()) {
            if (include.disabled) continue;
            if (include.name == generated_header) {
                needs.configuration = false;
            } else if (!files.contains(include.name) && (!include.quoted || is_system_header(include.name))) {
                needs.system_headers = true;
            }
        }
    }
    return needs;
}

// Decides which names configuration.h defines as macros. A name in a preprocessor condition is a macro. Any other name
// is no macro if it is a parameter of one of the source's C++ templates. The remaining names are macros if the source
// does not include configuration.h. If it does, only parameters with text values are macros. Also finds out what the
// sources need from the compiler.
//
// Throws ManifestError if a kernel's source includes a file outside the templates folder, or a file that a macro names.
// A compiler would find it, but the template's hash would not cover it.
void check_inside(const SourceTree& code, Scans& scans) {
    for (const auto& [path, text] : code) {
        auto& scan = scans.of(text);
        std::set<std::size_t> disabled;
        for (const auto& include : scan.includes()) {
            if (include.disabled) disabled.insert(include.line);
        }
        for (const auto& line : scan.lines()) {
            if (line.directive != "include" && line.directive != "include_next" && line.directive != "import") continue;
            const auto begin = line.rest.find_first_not_of(" \t");
            if (disabled.contains(line.line) || begin == std::string::npos) continue;
            const auto at = path + ":" + std::to_string(line.line) + ": ";
            const bool quoted = line.rest[begin] == '"';
            if (!quoted && line.rest[begin] != '<') {
                throw ManifestError(at + "#" + line.directive +
                                    " takes its file from a macro, so smemtune would not notice a change of the file; "
                                    "write the file's name");
            }
            const auto end = line.rest.find(quoted ? '"' : '>', begin + 1);
            const auto name = line.rest.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
            if (!is_outside(name)) continue;
            throw ManifestError(at + "file '" + name +
                                "' is outside the templates folder, so smemtune would not notice a change of it; put "
                                "it there and name it by its path from there, or pass a folder above both with "
                                "--templates");
        }
    }
}

// If `is_stored` is false, also checks the sources, and throws ManifestError. A stored template was verified, perhaps
// before these checks existed, so it is not checked again.
void read_sources_of(KernelTemplate& kernel, Scans& scans, bool is_stored) {
    SourceTree code;
    SourceTree reference;
    const auto& operation = kernel.operation;
    collect(kernel.files, {}, kernel.source_path, kernel.path + ":1", kernel.include_folders, scans, code);
    if (operation.reference.has_source()) {
        collect(kernel.files, {}, operation.reference_path, operation.path + ":1", kernel.include_folders, scans,
                reference);
    }
    SourceTree prepare;
    if (!operation.prepare_path.empty()) {
        collect(kernel.files, {}, operation.prepare_path, operation.path + ":1", kernel.include_folders, scans,
                prepare);
    }
    kernel.prepare_needs = needs_of(prepare, scans);
    kernel.source_needs = needs_of(code, scans);
    kernel.reference_needs = needs_of(reference, scans);
    auto names = constant_names_of(kernel);
    if (!is_stored) {
        check_inside(code, scans);
        check_redefinitions(code, names, kernel.options, scans);
        check_spellings(kernel, code, scans);
        check_spellings(kernel, reference, scans);
        check_spellings(kernel, prepare, scans);
    }
    std::vector<std::span<const SourceLine>> lines;
    std::set<std::string> declared;
    for (const auto& [path, text] : code) {
        auto& scan = scans.of(text);
        lines.emplace_back(scan.lines());
        declared.insert(scan.template_parameters().begin(), scan.template_parameters().end());
    }
    for (const auto& [layout, constants] : operation.layouts) {
        for (const auto& [name, value] : constants) names.insert(name);
    }
    const auto conditions = names_in_conditions(lines);
    for (const auto& parameter : kernel.parameters) {
        if (is_stored || parameter.is_compiled()) continue;
        if (words_of(kernel.entry).contains(parameter.name)) {
            throw ManifestError(kernel.path + ":1: 'entry' '" + kernel.entry + "' names the " +
                                uncompiled_kind(parameter) + " '" + parameter.name +
                                "', but the function is chosen when the kernel is compiled; take " +
                                uncompiled_key(parameter) + " = true away");
        }
        if (!conditions.contains(parameter.name)) continue;
        throw ManifestError(kernel.source_path + ":1: '" + parameter.name + "' is a " + uncompiled_kind(parameter) +
                            ", and a preprocessor condition of the source uses it, which is always 0 there; take " +
                            uncompiled_key(parameter) + " = true away" +
                            (parameter.runtime ? ", or use a plain if" : ""));
    }
    for (const auto& name : names) {
        const auto parameter = std::ranges::find(kernel.parameters, name, &Parameter::name);
        const bool text = parameter != kernel.parameters.end() && std::ranges::any_of(parameter->values, is_text_value);
        if (conditions.contains(name) || (kernel.source_needs.configuration && !declared.contains(name)) ||
            (text && !declared.contains(name))) {
            kernel.macros.insert(name);
        }
    }
}

// The reference of an operation may be in the source of one of its kernels. For every other kernel of the operation,
// this source is then compiled again, with the constants of that kernel. Throws ManifestError if a kernel lacks
// constants that the source needs.
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

bool is_read(const std::string& extension) {
    static const std::set<std::string> extensions{".toml", ".cu", ".h", ".cuh", ".hpp", ".hh", ".inl", ".inc"};
    return extensions.contains(extension);
}

bool is_manifest(const std::string& path) { return path.ends_with(".toml"); }

}  // namespace

namespace {

std::string content_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw ManifestError(path.string() + ":1: cannot be read");
    return text.str();
}

// Whether the text of a manifest has the file name `name` outside comments: at the end of a path, or as a word of a
// command.
bool mentions(const std::string& text, const std::string& name) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const auto end = at + name.size();
        const auto line = text.rfind('\n', at);
        if (text.find('#', line == std::string::npos ? 0 : line) < at) continue;
        if (at > 0 && end < text.size() && std::string_view("\"'/ ").find(text[at - 1]) != std::string_view::npos &&
            std::string_view("\"' ").find(text[end]) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

// Reads the files that a manifest mentions: files of numbers, programs and host functions. Other files are not read.
void read_named_files(const std::filesystem::path& folder, SourceTree& tree) {
    std::vector<std::filesystem::path> wanted;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const auto name = entry.path().filename().string();
        if (!entry.is_regular_file() || is_read(entry.path().extension().string())) continue;
        const auto names_it = [&](const auto& each) { return is_manifest(each.first) && mentions(each.second, name); };
        if (std::ranges::none_of(tree, names_it)) continue;
        wanted.push_back(entry.path());
        if (entry.file_size() <= largest_data_file) continue;
        throw ManifestError(entry.path().string() + ":1: has " + std::to_string(entry.file_size()) +
                            " bytes; a file that a manifest names has at most " + std::to_string(largest_data_file) +
                            ": make it smaller");
    }
    for (const auto& path : wanted) tree[path.lexically_relative(folder).generic_string()] = content_of(path);
}

// Reads the numbers of the files that the operation's arguments name.
void attach_data(KernelTemplate& kernel, const SourceTree& tree, const SourceTree& library) {
    for (auto& argument : kernel.operation.arguments) {
        if (!argument.values || argument.values->kind != ArgumentValues::Kind::file) continue;
        const auto& path = argument.values->path;
        const auto& content = file(tree, library, path, kernel.operation.path + ":1");
        try {
            const auto type = argument.type.value_or(argument_type("f32"));
            argument.values->data = std::make_shared<const DataFile>(read_data_file(path, content, *type.number));
        } catch (const std::invalid_argument& error) {
            throw ManifestError(path + ":1: file '" + path + "', the values of argument '" + argument.name + "', " +
                                error.what());
        }
        kernel.files[path] = content;
    }
}

}  // namespace

namespace {

// A reference is for a single kernel if it is the default configuration of the kernel or depends on parameters of the
// kernel. Throws ManifestError if an operation with such a reference has several kernels. Sets
// OperationReference::configured of each reference that is a default configuration.
void configure_references(std::vector<KernelTemplate>& templates) {
    for (auto& kernel : templates) {
        const bool is_configuration = kernel.operation.reference.kind == OperationReference::Kind::configuration;
        if (!is_configuration && kernel.operation.parameters.empty()) continue;
        for (const auto& other : templates) {
            if (other.name == kernel.name || other.operation.name != kernel.operation.name) continue;
            throw ManifestError(kernel.operation.path + ":1: the reference of operation '" + kernel.operation.name +
                                (is_configuration ? "' is a configuration of its kernel, but it has two, '"
                                                  : "' depends on parameters of its kernel, but it has two, '") +
                                kernel.name + "' and '" + other.name +
                                "'; give it another reference, or each kernel an operation of its own");
        }
        if (is_configuration) kernel.operation.reference.configured = std::make_shared<const KernelTemplate>(kernel);
    }
}

constexpr std::string_view unchecked = "unchecked-";

}  // namespace

SourceTree read_sources(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    SourceTree tree;
    try {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            const auto extension = entry.path().extension();
            if (!entry.is_regular_file() || !is_read(extension.string())) continue;
            tree[entry.path().lexically_relative(folder).generic_string()] = content_of(entry.path());
        }
        read_named_files(folder, tree);
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
    for (const auto& [path, text] : tree) {
        if (std::filesystem::path(path).filename() != generated_header) continue;
        throw ManifestError(path +
                            ":1: smemtune writes a file of this name for each candidate, so this one would be ignored; "
                            "rename it");
    }
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
    Scans scans;
    std::vector<KernelTemplate> templates;
    for (const auto& [path, text] : tree) {
        if (!is_manifest(path)) continue;
        auto kernel = parse_template(path, text, operations, find);
        if (!kernel) continue;
        const auto same = std::ranges::find(templates, kernel->name, &KernelTemplate::name);
        if (same != templates.end()) {
            throw ManifestError(path + ":1: template '" + kernel->name + "' is also in " + same->path + "; rename one");
        }
        const auto& home = kernel->operation.path;
        const auto& folders = kernel->include_folders;
        collect(tree, library, kernel->source_path, place_of(path, text, "source"), folders, scans, kernel->files);
        if (kernel->operation.reference.has_source()) {
            collect(tree, library, kernel->operation.reference_path,
                    place_of(home, file(tree, library, home, path + ":1"), "reference"), folders, scans, kernel->files);
        }
        if (const auto& prepare = kernel->operation.prepare_path; !prepare.empty()) {
            collect(tree, library, prepare, place_of(home, file(tree, library, home, path + ":1"), "prepare"), folders,
                    scans, kernel->files);
        }
        attach_data(*kernel, tree, library);
        attach_reference(*kernel, tree, library);
        // The operation's manifest may describe a kernel, too. That kernel is left out, because load_template() accepts
        // only one kernel.
        if (home != path) kernel->files[home] = operation_alone(home, file(tree, library, home, path + ":1"));
        // A stored template is loaded without `library`. Its include folders may be empty, because it is stored with
        // only the headers that it uses.
        if (!library.empty()) check_include_folders(*kernel, tree, library, text);
        read_sources_of(*kernel, scans, library.empty());
        kernel->hash = hash_of(*kernel, scans);
        // The `same_code` list must contain the hash of this version. If it does not, the source has changed since the
        // list was written, and the list is ignored.
        if (std::erase(kernel->same_code_as, kernel->hash) == 0) kernel->same_code_as.clear();
        templates.push_back(std::move(*kernel));
    }
    check_references(templates);
    configure_references(templates);
    std::ranges::sort(templates, {}, [](const KernelTemplate& t) { return std::pair(t.operation.name, t.name); });
    return templates;
}

const std::vector<KernelTemplate>& builtin_templates() {
    static const auto templates = load_templates(builtin_sources());
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
    Scans scans;
    if (operation.reference.has_source()) {
        collect(kernel_template.files, {}, operation.reference_path, operation.path + ":1",
                kernel_template.include_folders, scans, reference);
    }
    for (const auto& [path, content] : reference) add(content);
    if (!operation.prepare_path.empty()) {
        SourceTree prepare;
        collect(kernel_template.files, {}, operation.prepare_path, operation.path + ":1",
                kernel_template.include_folders, scans, prepare);
        add("prepare");
        for (const auto& [path, content] : prepare) add(content);
    }
    if (operation.reference.kind != OperationReference::Kind::kernel) add(reference_text(kernel_template));
    for (const auto& argument : operation.arguments) {
        if (argument.values && argument.values->data) add(argument.values->data->bytes);
    }
    const bool is_checked = operation.reference.kind != OperationReference::Kind::none;
    return (is_checked ? "" : std::string(unchecked)) + sha256(text).substr(0, 32);
}

bool is_unchecked(std::string_view identity) { return identity.starts_with(unchecked); }

KernelTemplate load_template(const SourceTree& files, const std::string& stored_hash) {
    auto templates = load_templates(files, {});
    if (templates.size() != 1) {
        throw ManifestError("a stored template has " + std::to_string(templates.size()) + " manifests instead of one");
    }
    auto kernel = std::move(templates.front());
    // Earlier versions of smemtune defined no macros, so the same files had a different hash and compiled to different
    // machine code. A kernel that such a version stored is loaded without macros.
    if (!stored_hash.empty() && kernel.hash != stored_hash && !kernel.source_needs.configuration) {
        auto without_macros = kernel;
        without_macros.macros.clear();
        Scans scans;
        if (hash_of(without_macros, scans) == stored_hash) {
            without_macros.hash = stored_hash;
            return without_macros;
        }
    }
    return kernel;
}

}  // namespace smemtune
