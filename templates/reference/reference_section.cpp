#include "templates/reference/reference_section.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

using Kind = OperationReference::Kind;

constexpr const char* reference_forms =
    "a kernel (\"reference.cu\"), a function (\"reference.cpp\"), { configuration = \"default\" }, "
    "{ answer = { OUTPUT = \"FILE.npy\" } }, { program = \"python3 FILE.py {inputs} {outputs}\" }, "
    "{ verify = \"verify.cpp\" } or \"none\"";

// Converts a path relative to the manifest's folder into a path relative to the templates folder.
std::string path_inside(const Section& section, const std::string& name) {
    auto path = section.beside(name);
    if (path.starts_with("..") || path.starts_with("/")) {
        section.fail_at("reference", "'reference' names '" + name +
                                         "', which is outside the templates folder; move it there, or pass a folder "
                                         "above both with --templates");
    }
    return path;
}

std::string text_of(const Section& section, const std::string& key, const toml::node& node) {
    if (const auto text = node.value_exact<std::string>(); text && !text->empty()) return *text;
    section.fail_at("reference",
                    "'reference' holds '" + key + "', which must be a non-empty text; write one of " + reference_forms);
}

void read_answers(const Section& section, const toml::node& node, OperationReference& reference) {
    const auto* table = node.as_table();
    if (table == nullptr || table->empty()) {
        section.fail_at("reference",
                        "'reference' holds 'answer', which must name a file for each output; write for "
                        "example { answer = { C = \"C.npy\" } }");
    }
    for (const auto& [output, file] : *table) {
        const auto name = text_of(section, "answer", file);
        if (!is_data_file(name)) {
            section.fail_at("reference", "'reference' names the answer '" + name +
                                             "', which is no file NAME.npy, NAME.bin or NAME.raw");
        }
        reference.answers[std::string(output.str())].path = path_inside(section, name);
    }
}

void read_command(const Section& section, const toml::node& node, OperationReference& reference) {
    std::istringstream words(text_of(section, "program", node));
    for (std::string word; words >> word;) reference.command.push_back(word);
    for (const std::string placeholder : {"{inputs}", "{outputs}"}) {
        const auto names = [&](const std::string& word) { return word.find(placeholder) != std::string::npos; };
        if (std::ranges::any_of(reference.command, names)) continue;
        section.fail_at("reference", "'reference' holds a 'program' without " + placeholder +
                                         "; write for example { program = \"python3 reference.py {inputs} "
                                         "{outputs}\" }");
    }
}

void read_reference_table(const Section& section, const toml::table& table, Operation& operation) {
    auto& reference = operation.reference;
    int kinds = 0;
    for (const auto& [key, node] : table) {
        const std::string name(key.str());
        if (name == "time_limit") {
            const auto seconds = node.value_exact<std::int64_t>();
            if (!seconds || *seconds < 1 || *seconds > 240 || !table.contains("program")) {
                section.fail_at("reference", "'reference' holds 'time_limit', which is for programs, 1 to 240 seconds");
            }
            reference.time_limit_s = static_cast<int>(*seconds);
            continue;
        }
        ++kinds;
        if (name == "configuration") {
            reference.kind = Kind::configuration;
            if (text_of(section, name, node) == "default") continue;
            section.fail_at("reference",
                            "'reference' holds a 'configuration' other than \"default\"; write \"default\", and give "
                            "the values that are right as the parameters' defaults");
        } else if (name == "answer") {
            reference.kind = Kind::answer;
            read_answers(section, node, reference);
        } else if (name == "program") {
            reference.kind = Kind::program;
            read_command(section, node, reference);
        } else if (name == "verify") {
            const auto source = text_of(section, name, node);
            operation.reference_path = read_source(section, name, source);
            reference.kind = is_host_source(source) ? Kind::verify_host : Kind::verify_kernel;
        } else {
            section.fail_at("reference", "'reference' knows no '" + name + "'; write one of " + reference_forms);
        }
    }
    if (kinds == 1) return;
    section.fail_at("reference", "'reference' holds " + std::to_string(kinds) +
                                     " references instead of one; write one of " + reference_forms);
}

// Returns the default tolerance of torch.testing.assert_close, which is meant for two results that were computed in the
// same type.
Tolerance default_tolerance(const NumberType& type) {
    struct Default {
        std::string_view type;
        double absolute, relative;
    };
    static constexpr std::array defaults{Default{"f64", 1e-7, 1e-7}, Default{"f32", 1e-5, 1.3e-6},
                                         Default{"f16", 1e-5, 1e-3}, Default{"bf16", 1e-5, 1.6e-2}};
    const auto* found = std::ranges::find(defaults, type.name, &Default::type);
    return {.absolute = found->absolute, .relative = found->relative, .has_distance = true};
}

bool is_always_the_same(const Argument& argument) {
    if (argument.kind != Argument::Kind::input && !argument.is_read) return true;
    const auto& values = argument.values;
    return values && (values->kind == ArgumentValues::Kind::file || values->kind == ArgumentValues::Kind::constant);
}

void check_answers(const Section& section, const Operation& operation) {
    for (const auto& [name, answer] : operation.reference.answers) {
        const auto argument = std::ranges::find(operation.arguments, name, &Argument::name);
        if (argument != operation.arguments.end() && argument->kind == Argument::Kind::output) continue;
        section.fail_at("reference", "'reference' holds an answer for '" + name + "', which is no output");
    }
    for (const auto& argument : operation.arguments) {
        if (argument.kind == Argument::Kind::output && !operation.reference.answers.contains(argument.name)) {
            section.fail_at("reference", "'reference' holds no answer for output '" + argument.name +
                                             "'; add the file that holds it");
        }
        if (is_always_the_same(argument)) continue;
        section.fail_at("reference", "'reference' holds answers, but the values of argument '" + argument.name +
                                         "' are random; write values = { file = \"" + argument.name +
                                         ".npy\" } or { constant = 1 } there");
    }
    if (operation.checks.size() > 1) {
        section.fail_at("reference", "'reference' holds one set of answers for " +
                                         std::to_string(operation.checks.size()) +
                                         " [[operation.check]]; keep only one of them");
    }
}

DataFile answer_data(OperationReference::Answer& answer, const Argument& output, const std::string& content) {
    const auto type = output.type.value_or(argument_type("f32"));
    answer.type = result_type(answer.path, content, *type.number);
    return read_data_file(answer.path, content, *argument_type(answer.type).number);
}

const std::string* found_in(const SourceTree& tree, const SourceTree& library, const std::string& path) {
    if (const auto file = tree.find(path); file != tree.end()) return &file->second;
    const auto file = library.find(path);
    return file == library.end() ? nullptr : &file->second;
}

}  // namespace

bool is_host_source(const std::string& path) {
    return path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx");
}

std::string read_source(const Section& section, const std::string& key, const std::string& file) {
    if (!is_host_source(file) && !file.ends_with(".cu")) {
        section.fail_at(section.has(key) ? key : "reference",
                        "'" + key + "' is '" + file +
                            "', which is no source; name a kernel's .cu or a C++ function's "
                            ".cpp beside the manifest");
    }
    return section.beside(file);
}

void read_reference(const Section& section, Operation& operation) {
    auto& reference = operation.reference;
    const auto& node = section.node("reference", "\"reference.cu\"");
    if (const auto* table = node.as_table()) return read_reference_table(section, *table, operation);
    const auto path = text_of(section, "reference", node);
    if (path == "none") {
        reference.kind = Kind::none;
        return;
    }
    if (is_host_source(path)) reference.kind = Kind::host;
    operation.reference_path = section.beside(path);
}

void complete_reference(const Section& section, Operation& operation) {
    const auto kind = operation.reference.kind;
    if (operation.reference.is_verifier()) {
        for (const auto& argument : operation.arguments) {
            if (!argument.tolerance) continue;
            section.fail_at("reference", "'reference' verifies by itself, but output '" + argument.name +
                                             "' has a tolerance; leave the tolerance out");
        }
    }
    if (operation.reference.has_source()) return;
    for (auto& argument : operation.arguments) {
        if (argument.kind != Argument::Kind::output || argument.is_integer()) continue;
        const auto type = argument.type.value_or(argument_type("f32"));
        if (argument.tolerance && argument.tolerance->has_distance) continue;
        auto tolerance = default_tolerance(*type.number);
        if (argument.tolerance) {
            tolerance.share = argument.tolerance->share;
            tolerance.equal_nans = argument.tolerance->equal_nans;
        }
        argument.tolerance = tolerance;
    }
    if (kind == Kind::answer) check_answers(section, operation);
}

void attach_reference(KernelTemplate& kernel, const SourceTree& tree, const SourceTree& library) {
    auto& reference = kernel.operation.reference;
    for (auto& [name, answer] : reference.answers) {
        const auto* content = found_in(tree, library, answer.path);
        if (content == nullptr) {
            throw ManifestError(kernel.operation.path + ":1: file '" + answer.path + "', the answer of output '" +
                                name + "', is missing; put it there");
        }
        const auto output = std::ranges::find(kernel.operation.arguments, name, &Argument::name);
        try {
            answer.data = answer_data(answer, *output, *content);
        } catch (const std::invalid_argument& error) {
            throw ManifestError(answer.path + ":1: file '" + answer.path + "', the answer of output '" + name + "', " +
                                error.what());
        }
        kernel.files[answer.path] = *content;
    }
    const auto folder = std::filesystem::path(kernel.operation.path).parent_path();
    for (const auto& word : reference.command) {
        const auto path = (folder / word).lexically_normal().generic_string();
        if (const auto* content = found_in(tree, library, path)) {
            kernel.files[path] = reference.program_files[word] = *content;
        } else if (word.ends_with(".py")) {
            throw ManifestError(kernel.operation.path + ":1: file '" + path +
                                "', which the reference's program names, is missing; put it there");
        }
    }
}

std::string reference_text(const KernelTemplate& kernel) {
    const auto& reference = kernel.operation.reference;
    std::string text;
    const auto add = [&](const std::string& part) { text += std::to_string(part.size()) + ":" + part; };
    switch (reference.kind) {
        case Kind::kernel: break;
        case Kind::host: add("host"); break;
        case Kind::none: add("none"); break;
        case Kind::verify_kernel: add("verify kernel"); break;
        case Kind::verify_host: add("verify host"); break;
        case Kind::configuration:
            add("configuration");
            add(kernel.hash);
            add(to_text(default_configuration(kernel)));
            break;
        case Kind::answer:
            add("answer");
            for (const auto& [name, answer] : reference.answers) {
                add(name);
                add(answer.type);
                add(answer.data.bytes);
            }
            break;
        case Kind::program:
            add("program");
            for (const auto& word : reference.command) add(word);
            for (const auto& [word, content] : reference.program_files) add(content);
            break;
    }
    return text;
}

}  // namespace smemtune
