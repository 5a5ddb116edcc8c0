#include "templates/manifest/manifest.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "templates/manifest/catalog.h"
#include "templates/manifest/extends.h"
#include "templates/manifest/operation_section.h"
#include "templates/manifest/section.h"
#include "templates/source/parameter_values.h"
#include "templates/source/source_scan.h"
#include "templates/space/value.h"

namespace smemtune {

std::string uncompiled_key(const Parameter& parameter) { return parameter.runtime ? "runtime" : "launch"; }

std::string uncompiled_kind(const Parameter& parameter) {
    return parameter.runtime ? "run-time parameter" : "parameter of the launch";
}

namespace {

Parameter read_parameter(const Section& section) {
    section.allow_only({"name", "values", "default", "summary", "runtime", "launch"});
    Parameter parameter{.name = section.value<std::string>("name", "\"TILE_WIDTH\"")};
    if (!is_identifier(parameter.name)) section.fail_at("name", "'" + parameter.name + "' is no C++ identifier");
    parameter.values = parameter_values(section);
    parameter.default_value =
        section.has("default") ? parameter_default(section, parameter.values) : parameter.values.front();
    parameter.summary = section.value_or<std::string>("summary", "\"what it is\"", "");
    parameter.runtime = section.value_or<bool>("runtime", "true", false);
    parameter.launch = section.value_or<bool>("launch", "true", false);
    if (parameter.runtime && parameter.launch) {
        section.fail_at("launch", "'" + parameter.name +
                                      "' has runtime = true, so the kernel takes it, and launch = true, so it does "
                                      "not; take one of them away");
    }
    if (const auto text = std::ranges::find_if(parameter.values, is_text_value);
        !parameter.is_compiled() && text != parameter.values.end()) {
        section.fail_at("values", "'values' holds '" + value_text(*text) + "', but a " + uncompiled_kind(parameter) +
                                      " is an int; take " + uncompiled_key(parameter) + " = true away");
    }
    return parameter;
}

// Constant derived values are compiled in, so they may use only values that are known at compile time.
void check_constant(const Section& section, const Derived& derived, const KernelTemplate& kernel) {
    const auto is_known = [&](const std::string& name) {
        const auto parameter = std::ranges::find(kernel.parameters, name, &Parameter::name);
        if (parameter != kernel.parameters.end()) return parameter->is_compiled();
        const auto& layouts = kernel.operation.layouts;
        return name == "element_bytes" || (!layouts.empty() && layouts.begin()->second.contains(name));
    };
    for (const auto& name : derived.expression.names()) {
        if (is_known(name)) continue;
        section.fail_at("value", "'" + derived.name + "' is a constant of the program but uses '" + name +
                                     "', which is not known when the kernel is compiled; use only compile-time " +
                                     "parameters, layout constants and element_bytes, or take constant = true away");
    }
}

// Reads a [[derived]]. Each derived value may use the derived values before it.
Derived read_derived(const Section& section, Names& known, const KernelTemplate& kernel) {
    section.allow_only({"name", "value", "summary", "constant"});
    Derived derived{.name = section.value<std::string>("name", "\"THREADS\""),
                    .value = section.value<std::string>("value", "\"ROWS * COLUMNS\""),
                    .summary = section.value_or<std::string>("summary", "\"what it is\"", ""),
                    .constant = section.value_or<bool>("constant", "true", false),
                    .expression = {}};
    if (!is_identifier(derived.name)) section.fail_at("name", "'" + derived.name + "' is no C++ identifier");
    if (std::ranges::count(Expression::functions, derived.name) > 0) {
        section.fail_at("name", "'" + derived.name + "' is a function of expressions; rename it");
    }
    if (known.values.contains(derived.name) || known.derived.contains(derived.name)) {
        section.fail_at("name", "'" + derived.name + "' is declared twice, or is a name of the operation's");
    }
    derived.expression = section.checked("value", derived.value, known);
    if (derived.constant) check_constant(section, derived, kernel);
    known.derived[derived.name] = derived.expression.text();
    return derived;
}

std::array<Expression, 3> read_extent3(const Section& section, const std::string& key, const Names& known) {
    const std::string example = R"toml(["ceil_div(N, TILE_WIDTH)", "1"])toml";
    const auto texts = section.list<std::string>(key, example);
    if (texts.size() > 3) section.fail_at(key, "'" + key + "' has more than three dimensions");
    std::array<Expression, 3> result{Expression("1"), Expression("1"), Expression("1")};
    for (std::size_t i = 0; i < texts.size(); ++i) result[i] = section.checked(key, texts[i], known);
    return result;
}

// Reads an expression that describes the compiled code. It may use only parameters that are compiled in.
Expression read_compiled(const Section& section, const std::string& key, const std::string& example, const Names& known,
                         const std::vector<Parameter>& parameters) {
    auto expression = section.expression(key, example, known);
    for (const auto& name : expression.names()) {
        const auto named = std::ranges::find(parameters, name, &Parameter::name);
        if (named == parameters.end() || named->is_compiled()) continue;
        section.fail_at(key, "'" + key + "' names the " + uncompiled_kind(*named) + " '" + name +
                                 "', but is fixed when the kernel is compiled; leave it out there, or take " +
                                 uncompiled_key(*named) + " = true from the parameter");
    }
    return expression;
}

// Throws ManifestError if a compiler option, such as -DTILE=8, replaces the value of a parameter.
void check_options(const Section& head, const KernelTemplate& kernel) {
    for (const auto& option : kernel.options) {
        const auto begin = option.starts_with("--define-macro=") ? 15U : 2U;
        if (begin == 2 && !option.starts_with("-D") && !option.starts_with("-U")) continue;
        const auto name = option.substr(begin, option.find('=', begin) - begin);
        if (std::ranges::count(kernel.parameters, name, &Parameter::name) == 0) continue;
        head.fail_at("options", "'options' holds '" + option + "', which replaces the value of the parameter '" + name +
                                    "'; leave it out");
    }
}

// Throws ManifestError if a run-time parameter has the name of an argument: the kernel takes both as arguments.
void check_runtime_parameter(const Section& section, const Parameter& parameter, const KernelTemplate& kernel) {
    const auto& arguments = kernel.operation.arguments;
    if (!parameter.runtime) return;
    if (std::ranges::count(arguments, parameter.name, &Argument::name) > 0) {
        section.fail_at("name", "'" + parameter.name + "' is an argument of the operation's; rename the parameter");
    }
}

// Limits the number of a kernel's arguments, because each launch keeps them in an array on the stack.
void check_argument_count(const Section& section, const KernelTemplate& kernel) {
    const auto runtime = static_cast<std::size_t>(std::ranges::count_if(kernel.parameters, &Parameter::runtime));
    const auto count =
        kernel.operation.arguments.size() + runtime + kernel.tensor_maps.size() + (kernel.workspace_bytes ? 1 : 0);
    if (count <= most_arguments) return;
    section.fail("would launch a kernel of " + std::to_string(count) +
                 " arguments (the operation's, run-time parameters, tensor maps, workspace), more than " +
                 std::to_string(most_arguments) + "; compile parameters in, without runtime = true");
}

void read_launch(const Section& section, const Names& known, KernelTemplate& result) {
    section.allow_only(
        {"block", "grid", "static_shared_bytes", "dynamic_shared_bytes", "workspace_bytes", "registers"});
    result.block = read_extent3(section, "block", known);
    result.grid = read_extent3(section, "grid", known);
    if (section.has("static_shared_bytes")) {
        result.static_shared_bytes = read_compiled(section, "static_shared_bytes", "\"0\"", known, result.parameters);
    }
    if (section.has("dynamic_shared_bytes")) {
        result.dynamic_shared_bytes = section.expression("dynamic_shared_bytes", "\"0\"", known);
    }
    if (section.has("workspace_bytes")) {
        result.workspace_bytes = section.expression("workspace_bytes", "\"4 * M * N\"", known);
    }
    if (section.has("registers")) {
        result.registers = read_compiled(section, "registers", "\"32\"", known, result.parameters);
    }
}

TensorMap read_tensor_map(const Section& section, const Names& known, const KernelTemplate& kernel) {
    section.allow_only({"name", "matrix", "box", "swizzle", "copy_at", "copy_shape"});
    const auto& arguments = kernel.operation.arguments;
    TensorMap map{.name = section.value<std::string>("name", "\"A_TILES\"")};
    if (!is_identifier(map.name)) section.fail_at("name", "'" + map.name + "' is no C++ identifier");
    const auto matrix = section.value<std::string>("matrix", "\"A\"");
    const auto found = std::ranges::find(arguments, matrix, &Argument::name);
    if (found == arguments.end() || !found->is_matrix() || found->stride.empty()) {
        std::string names;
        for (const auto& each : arguments) {
            if (each.is_matrix() && !each.stride.empty()) names += " " + each.name;
        }
        section.fail_at("matrix", "'matrix' '" + matrix +
                                      "' is no matrix with a stride among the operation's arguments" +
                                      (names.empty() ? "; it has none" : "; name one of:" + names));
    }
    map.matrix = static_cast<std::size_t>(found - arguments.begin());
    const auto box = section.list<std::string>("box", R"(["BLOCK_M", "BLOCK_K"])");
    if (box.size() != 2) {
        section.fail_at("box", "'box' has " + std::to_string(box.size()) +
                                   R"( extents; write the rows and the columns of a tile: ["BLOCK_M", "BLOCK_K"])");
    }
    map.box_rows = section.checked("box", box[0], known);
    map.box_columns = section.checked("box", box[1], known);
    map.swizzle = section.value_or<bool>("swizzle", "true", false);
    if (section.has("copy_at")) {
        if (!kernel.workspace_bytes) {
            section.fail_at("copy_at", "'copy_at' needs a workspace; give [launch] 'workspace_bytes'");
        }
        map.copy_at = section.expression("copy_at", "\"0\"", known);
    }
    if (section.has("copy_shape")) {
        if (!map.copy_at) section.fail_at("copy_shape", "'copy_shape' needs a copy; give 'copy_at'");
        const auto shape = section.list<std::string>("copy_shape", R"(["K", "M"])");
        if (shape.size() != 2) {
            section.fail_at("copy_shape", "'copy_shape' has " + std::to_string(shape.size()) +
                                              R"( extents; write the rows and the columns of the copy: ["K", "M"])");
        }
        map.copy_shape = {section.checked("copy_shape", shape[0], known),
                          section.checked("copy_shape", shape[1], known)};
    }
    return map;
}

Model read_model(const Section& section, const Names& known) {
    section.allow_only({"phases", "loads_per_phase", "operations_per_phase", "barriers_per_phase",
                        "shared_loads_per_phase", "dependent_loads_per_phase", "dependent_loads_per_block",
                        "stores_per_block", "cluster_blocks", "l2_loads"});
    Model model{.phases = section.expression("phases", "\"ceil_div(K, TILE_WIDTH)\"", known),
                .loads_per_phase = section.expression("loads_per_phase", "\"2 * TILE_WIDTH * TILE_WIDTH\"", known),
                .operations_per_phase = section.expression("operations_per_phase", "\"2 * TILE_WIDTH\"", known),
                .barriers_per_phase = section.expression("barriers_per_phase", "\"2\"", known)};
    const auto read = [&](const char* key, const char* example, Expression& to) {
        if (section.has(key)) to = section.expression(key, example, known);
    };
    read("shared_loads_per_phase", "\"TILE_WIDTH\"", model.shared_loads_per_phase);
    read("dependent_loads_per_phase", "\"0\"", model.dependent_loads_per_phase);
    read("dependent_loads_per_block", "\"0\"", model.dependent_loads_per_block);
    read("stores_per_block", "\"TILE_WIDTH\"", model.stores_per_block);
    read("cluster_blocks", "\"1\"", model.cluster_blocks);
    read("l2_loads", "\"2 * M * N * K / TILE_WIDTH\"", model.l2_loads);
    return model;
}

// Reads the keys that describe how to compile a kernel's source: entry point, compiler options, include folders.
void read_source_keys(const Section& head, KernelTemplate& result) {
    result.entry = head.value_or<std::string>("entry", R"("kernel<float, TILE>")", "");
    if (head.has("entry") && !is_identifier(base_name(result.entry))) {
        head.fail_at("entry",
                     "'entry' '" + result.entry + "' names no function; write for example \"kernel<float, TILE>\"");
    }
    if (result.entry == result.name) result.entry.clear();
    if (head.has("options")) result.options = head.list<std::string>("options", R"(["--use_fast_math"])");
    for (const auto& option : result.options) {
        if (!option.starts_with("-") || option.find_first_of(" \t\n") != std::string::npos) {
            head.fail_at("options", "'options' holds '" + option +
                                        "', which is no single option; write for example [\"--maxrregcount=64\"]");
        }
        for (const std::string_view taken : {"-arch",        "--gpu-arch",
                                             "-I",           "--include-path",
                                             "-include",     "--pre-include",
                                             "-o",           "--ptxas-options",
                                             "-Xptxas",      "-dc",
                                             "-rdc",         "--relocatable",
                                             "--device-c",   "--options-file",
                                             "-dlto",        "--dlink-time-opt",
                                             "--pch",        "-pch",
                                             "--create-pch", "-create-pch",
                                             "--use-pch",    "-use-pch"}) {
            if (!option.starts_with(taken)) continue;
            const bool folder = taken == "-I" || taken == "--include-path";
            head.fail_at("options", "'options' holds '" + option + "', which smemtune sets; leave it out" +
                                        (folder ? ", and write include = [\"FOLDER\"] instead" : ""));
        }
    }
    if (!head.has("include")) return;
    for (const auto& folder : head.list<std::string>("include", R"(["common"])")) {
        auto path = head.beside(folder);
        if (path.starts_with("..") || path.starts_with("/")) {
            head.fail_at("include", "'include' names '" + folder +
                                        "', which is outside the templates folder; move it there, or pass a folder "
                                        "above both with --templates");
        }
        result.include_folders.push_back(std::move(path));
    }
}

// Sets Operation::parameters to the default values of the kernel's parameters.
void complete_parameters(const Section& head, KernelTemplate& kernel) {
    for (auto& [name, value] : kernel.operation.parameters) {
        const auto found = std::ranges::find(kernel.parameters, name, &Parameter::name);
        const auto why = [&]() -> std::string {
            if (found == kernel.parameters.end()) return "', which the kernel has no [[parameter]] for; add it";
            if (std::ranges::any_of(found->values, is_text_value)) {
                return "', whose values are no whole numbers; shapes and references take whole numbers alone";
            }
            return "";
        }();
        if (!why.empty()) {
            head.fail_at("operation", "operation '" + kernel.operation.name + "' has 'parameters' with '" + name + why);
        }
        value = found->default_value;
    }
}

// Reads configurations that searches try first. Parameters that an entry leaves out have their defaults.
void read_starts(const Section& head, KernelTemplate& result) {
    for (const auto& text : head.list<std::string>("starts", R"(["TILE=32", "TILE=64,PAD=1"])")) {
        Configuration start;
        try {
            start = parse_configuration(text);
        } catch (const std::invalid_argument& error) {
            head.fail_at("starts", error.what());
        }
        for (const auto& [name, value] : start.values) {
            const auto parameter = std::ranges::find(result.parameters, name, &Parameter::name);
            if (parameter == result.parameters.end()) {
                head.fail_at("starts", "'" + text + "': there is no parameter '" + name + "'");
            }
            if (std::ranges::find(parameter->values, value) == parameter->values.end()) {
                head.fail_at("starts", "'" + text + "': " + value_text(value) + " is not among the values of " + name);
            }
        }
        result.starts.push_back(completed(std::move(start), default_configuration(result)));
    }
}

std::optional<KernelTemplate> read_template(const std::string& path, const toml::table& table,
                                            const Operations& operations) {
    const Section root(path, "manifest", table);
    root.allow_only(
        {"template", "operation", "parameter", "derived", "constraint", "launch", "tensor_map", "requires", "model"});
    const auto head = root.section("template");
    if (!head) {
        if (root.section("operation")) return std::nullopt;
        root.fail("has no [template]; write [template] with a name and an operation");
    }
    head->allow_only({"name", "operation", "summary", "types", "layouts", "source", "baseline", "same_code", "starts",
                      "entry", "options", "include"});
    KernelTemplate result{.name = head->value<std::string>("name", "\"tiled\""), .path = path};
    if (!is_identifier(result.name)) head->fail_at("name", "'" + result.name + "' is no C++ identifier");
    result.summary = head->value_or<std::string>("summary", "\"one line\"", "");
    const auto operation_name = head->value<std::string>("operation", "\"gemm\"");
    const auto operation = operations.find(operation_name);
    if (operation == operations.end()) {
        std::string known;
        for (const auto& [name, each] : operations) known += " " + name;
        head->fail_at("operation", "operation '" + operation_name + "' is unknown; known:" + known +
                                       "; or describe it in this manifest under [operation]");
    }
    result.operation = operation->second;
    result.types = head->list<std::string>("types", R"(["f32"])");
    for (const auto& type : result.types) {
        try {
            (void)element_type(type);
        } catch (const std::invalid_argument& error) {
            head->fail_at("types", error.what());
        }
    }
    if (head->has("layouts")) result.layouts = head->list<std::string>("layouts", R"(["nn"])");
    for (const auto& layout : result.layouts) {
        if (!result.operation.layouts.contains(layout)) {
            head->fail_at("layouts", "layout '" + layout + "' is unknown to operation " + operation_name);
        }
    }
    const auto stem = std::filesystem::path(path).stem().string() + ".cu";
    result.source_path = root.beside(head->value_or<std::string>("source", "\"tiled.cu\"", stem));

    result.baseline = head->value_or<bool>("baseline", "true", false);
    if (head->has("same_code")) result.same_code_as = head->list<std::string>("same_code", R"(["a hash", "another"])");

    read_source_keys(*head, result);

    auto known = names_of(result.operation);
    for (const auto& each : root.sections("parameter", "[[parameter]]")) {
        auto parameter = read_parameter(each);
        if (!known.values.insert(parameter.name).second) {
            each.fail_at("name", "'" + parameter.name + "' is declared twice, or is a name of the operation's");
        }
        check_runtime_parameter(each, parameter, result);
        for (const auto value : parameter.values) {
            if (!is_text_value(value)) continue;
            known.text_parameters.insert(parameter.name);
            known.texts.insert(value_text(value));
        }
        result.parameters.push_back(std::move(parameter));
    }
    complete_parameters(*head, result);
    if (head->has("starts")) read_starts(*head, result);
    check_options(*head, result);
    for (const auto& each : root.sections("derived", "[[derived]]")) {
        result.derived.push_back(read_derived(each, known, result));
    }
    for (const auto& each : root.sections("constraint", "[[constraint]]")) {
        each.allow_only({"rule", "reason"});
        result.constraints.push_back({each.expression("rule", "\"A <= B\"", known),
                                      each.value<std::string>("reason", "\"why configurations must meet the rule\""),
                                      each.value<std::string>("rule", "\"A <= B\"")});
    }
    const auto launch = root.section("launch");
    if (!launch) root.fail("has no [launch]; write [launch] with block and grid");
    read_launch(*launch, known, result);
    for (const auto& each : root.sections("tensor_map", "[[tensor_map]]")) {
        result.tensor_maps.push_back(read_tensor_map(each, known, result));
    }
    if (result.tensor_maps.size() > most_tensor_maps) {
        root.fail("has " + std::to_string(result.tensor_maps.size()) + " [[tensor_map]]; a kernel takes at most " +
                  std::to_string(most_tensor_maps));
    }
    check_argument_count(*launch, result);
    if (const auto requires_ = root.section("requires")) {
        requires_->allow_only({"compute_capability", "highest_compute_capability", "host"});
        result.compute_capability = requires_->value_or<std::int64_t>("compute_capability", "75", 0);
        if (requires_->has("highest_compute_capability")) {
            result.highest_compute_capability = requires_->value<std::int64_t>("highest_compute_capability", "90");
        }
        result.host = requires_->value_or<bool>("host", "true", false);
    }
    if (const auto model = root.section("model")) result.model = read_model(*model, known);
    return result;
}

}  // namespace

std::optional<Operation> parse_operation(const std::string& path, const std::string& text) {
    const auto table = parse_toml(path, text);
    const auto found = Section(path, "manifest", table).section("operation");
    return found ? std::optional(read_operation(*found)) : std::nullopt;
}

std::string operation_alone(const std::string& path, const std::string& text) {
    auto table = parse_toml(path, text);
    if (!table.contains("template")) return text;
    const auto* operation = table.get("operation");
    std::ostringstream result;
    if (operation != nullptr) result << toml::table{{"operation", *operation->as_table()}} << '\n';
    return result.str();
}

std::optional<KernelTemplate> parse_template(const std::string& path, const std::string& text,
                                             const Operations& operations, const FindManifest& find) {
    const auto manifest = complete_manifest(path, text, find);
    try {
        auto kernel = read_template(path, manifest.table, operations);
        if (!kernel) return kernel;
        std::ostringstream written;
        if (manifest.has_inherited) written << manifest.table << '\n';
        kernel->files[path] = manifest.has_inherited ? written.str() : text;
        return kernel;
    } catch (const ManifestError& error) {
        const std::string what = error.what();
        if (what.starts_with(path + ":")) throw;
        throw ManifestError(what + " (as part of " + path + ", which extends it)");
    }
}

}  // namespace smemtune
