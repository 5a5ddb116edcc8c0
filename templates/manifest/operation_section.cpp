#include "templates/manifest/operation_section.h"

#include <algorithm>

#include "templates/manifest/argument_section.h"
#include "templates/reference/reference_section.h"

namespace smemtune {

namespace {

void check_names(const Section& section, const std::string& key, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        if (!is_identifier(name)) section.fail_at(key, "'" + name + "' is no C++ identifier");
        if (std::ranges::count(names, name) > 1) section.fail_at(key, "'" + name + "' is declared twice; rename one");
    }
}

std::int64_t read_padding(const Section& section, const std::string& key) {
    const auto padding = section.value_or<std::int64_t>(key, "3", 0);
    if (padding < 0) section.fail_at(key, "'" + key + "' is negative");
    return padding;
}

// Reads the key `wide` of a check: the name of the input with the largest integers; empty if the key is absent.
std::string read_wide(const Section& section, const Check& check, const std::vector<Argument>& arguments) {
    auto wide = section.value_or<std::string>("wide", "\"A\"", "");
    if (wide.empty()) return wide;
    const auto found = std::ranges::find(arguments, wide, &Argument::name);
    if (found == arguments.end() || found->kind != Argument::Kind::input)
        section.fail_at("wide", "'wide' names '" + wide + "', which is no input");
    if (!check.integers) section.fail_at("wide", "'wide' is about integers; write inputs = \"integer\"");
    return wide;
}

std::map<std::string, std::int64_t> read_extents(const Section& section, const std::vector<Argument>& arguments) {
    std::map<std::string, std::int64_t> extents;
    if (!section.has("extents")) return extents;
    for (const auto& [key, node] : section.table_at("extents", "{ K = 0 }")) {
        const std::string name(key.str());
        const auto found = std::ranges::find(arguments, name, &Argument::name);
        if (found == arguments.end() || found->kind != Argument::Kind::extent)
            section.fail_at("extents", "'extents' names '" + name + "', which is no argument of kind extent");
        const auto value = node.value_exact<std::int64_t>();
        if (value != 0) section.fail_at("extents", "'extents' may hold only zeros: extents = { K = 0 }");
        for (const auto& argument : arguments) {
            if (argument.kind != Argument::Kind::output) continue;
            for (const auto* expression : {&argument.rows, &argument.columns, &argument.count}) {
                if (std::ranges::count(expression->names(), name) == 0) continue;
                section.fail_at("extents", "'extents' names '" + name + "', on which the size of output '" +
                                               argument.name + "' depends; name another one");
            }
        }
        extents[name] = *value;
    }
    return extents;
}

Check read_check(const Section& section, const std::vector<Argument>& arguments) {
    section.allow_only({"inputs", "wide", "scalars", "extents", "offset", "padding", "multiple", "batch_padding",
                        "broadcast", "poison"});
    Check check;
    const auto inputs = section.value<std::string>("inputs", "\"uniform\"");
    if (inputs != "uniform" && inputs != "integer" && inputs != "special")
        section.fail_at("inputs", "'inputs' is '" + inputs + "', which is none of uniform, integer, special");
    check.integers = inputs == "integer";
    check.special = inputs == "special";
    check.wide = read_wide(section, check, arguments);
    check.offset = read_padding(section, "offset");
    check.padding = read_padding(section, "padding");
    check.multiple = section.value_or<std::int64_t>("multiple", "4", 1);
    if (check.multiple < 1) section.fail_at("multiple", "'multiple' is less than 1");
    check.extents = read_extents(section, arguments);
    check.batch_padding = read_padding(section, "batch_padding");
    if (section.has("broadcast")) check.broadcast = section.list<std::string>("broadcast", R"(["B"])");
    for (const auto& name : check.broadcast) {
        const auto found = std::ranges::find(arguments, name, &Argument::name);
        if (found != arguments.end() && found->kind == Argument::Kind::input && !found->batch_stride.empty()) continue;
        section.fail_at("broadcast", "'broadcast' names '" + name + "', which is no input with a batch stride");
    }
    check.poison = section.value_or<bool>("poison", "true", true);
    const auto& scalars = section.table_at("scalars", "{ alpha = 1 }");
    for (const auto& [name, node] : scalars) {
        const auto is_this = [&name = name](const Argument& a) {  // clang 14 cannot capture a structured binding
            return a.kind == Argument::Kind::scalar && a.name == name.str();
        };
        if (std::ranges::any_of(arguments, is_this)) continue;
        section.fail_at("scalars", "'scalars' names '" + std::string(name.str()) + "', which is no argument of kind " +
                                       "scalar; check its spelling");
    }
    for (const auto& argument : arguments) {
        if (argument.kind != Argument::Kind::scalar) continue;
        const auto* node = scalars.get(argument.name);
        const auto value = node == nullptr ? argument.value : node->value<double>();
        if (!value)
            section.fail("gives scalar '" + argument.name + "' no value; write scalars = { " + argument.name +
                         " = 1 }");
        if (argument.type && !argument.type->number->holds(*value)) {
            section.fail_at("scalars", "'scalars' gives '" + argument.name + "' a value that " + argument.type->name() +
                                           " does not have; write one that it has");
        }
        check.scalars[argument.name] = *value;
    }
    return check;
}

void check_arguments(const Section& section, const Operation& operation) {
    const auto count = [&](const std::string& name, Argument::Kind kind) {
        return std::ranges::count_if(operation.arguments,
                                     [&](const Argument& a) { return a.name == name && a.kind == kind; });
    };
    bool has_output = false;
    for (const auto& argument : operation.arguments) {
        if (std::ranges::count(operation.arguments, argument.name, &Argument::name) > 1) {
            section.fail("declares argument '" + argument.name + "' twice");
        }
        if (argument.kind == Argument::Kind::extent && std::ranges::count(operation.extents, argument.name) == 0) {
            section.fail("argument '" + argument.name + "' is no extent of the operation; add it to 'extents'");
        }
        const auto check_named = [&](const std::string& name, Argument::Kind kind, const std::string& word) {
            if (name.empty() || count(name, kind) == 1) return;
            section.fail("argument '" + argument.name + "' names " + word + " '" + name +
                         "', which is no argument of kind " + word + "; add it");
        };
        check_named(argument.stride, Argument::Kind::stride, "stride");
        check_named(argument.batch_stride, Argument::Kind::batch_stride, "batch_stride");
        has_output = has_output || argument.kind == Argument::Kind::output;
    }
    if (!has_output) section.fail("has no argument of kind output, so nothing could be verified; add one");
}

// A stride that belongs to no array has no useful value, so the kernel would fail its checks without a hint.
void check_strides_belong_to_arrays(const Section& section, const std::vector<Argument>& arguments) {
    const auto check = [&](const Argument& argument, std::string Argument::*name, const std::string& word) {
        if (std::ranges::count(arguments, argument.name, name) > 0) return;
        section.fail("argument '" + argument.name + "' is the " + word + " of no array; write " + word + " = \"" +
                     argument.name + "\" for the array, or another kind for '" + argument.name + "'");
    };
    for (const auto& argument : arguments) {
        if (argument.kind == Argument::Kind::stride) check(argument, &Argument::stride, "stride");
        if (argument.kind == Argument::Kind::batch_stride) check(argument, &Argument::batch_stride, "batch_stride");
    }
}

std::map<std::string, Environment> read_layouts(const Section& section, const std::vector<std::string>& extents) {
    std::map<std::string, Environment> layouts;
    std::optional<std::vector<std::string>> first;  // the names that every layout must define
    for (const auto& [layout, node] : section.table_at("layouts", "{ nn = { TRANSPOSE_A = 0 } }")) {
        const auto* table = node.as_table();
        if (table == nullptr) section.fail_at("layouts", "'layouts' must be tables: nn = { TRANSPOSE_A = 0 }");
        auto& constants = layouts[std::string(layout.str())];
        std::vector<std::string> names;
        for (const auto& [name, value] : *table) {
            const auto number = value.value_exact<std::int64_t>();
            if (!number || !is_int(*number)) {
                section.fail_at("layouts", "'layouts' must hold whole numbers: nn = { TRANSPOSE_A = 0 }");
            }
            constants[names.emplace_back(name.str())] = *number;
        }
        auto all = names;
        all.insert(all.end(), extents.begin(), extents.end());
        check_names(section, "layouts", all);
        if (!first) first = names;
        if (*first != names) section.fail_at("layouts", "'layouts' must give the same constants for every layout");
    }
    return layouts;
}

// Reads the key `parameters` of an operation. Returns `known` with the names of these parameters added. The shapes and
// values of arguments may use all of these names. Each parameter is 0 until a kernel's manifest gives its default.
Names with_parameters(const Section& section, const Names& known, Operation& operation) {
    auto names = known;
    if (!section.has("parameters")) return names;
    for (const auto& name : section.list<std::string>("parameters", R"(["BLOCKS"])")) {
        if (!is_identifier(name)) section.fail_at("parameters", "'" + name + "' is no C++ identifier");
        if (!names.values.insert(name).second) {
            section.fail_at("parameters", "'parameters' names '" + name +
                                              "' twice, or it is already a name of the operation; rename one");
        }
        operation.parameters.emplace_back(name, 0);
    }
    const auto kind = operation.reference.kind;
    if (kind == OperationReference::Kind::configuration || kind == OperationReference::Kind::answer) {
        section.fail_at("parameters",
                        "'parameters' decide what outputs should be, but the reference is always the same; give the "
                        "operation a kernel, a function, a program or a verifier");
    }
    return names;
}

// Reads a key such as `prepare = "inputs.cpp"`. Throws ManifestError if the key is present but no argument has
// `prepared` values, or if an argument has `prepared` values but the key is absent.
void read_prepare(const Section& section, Operation& operation) {
    const auto prepared = std::ranges::find_if(operation.arguments, [](const Argument& argument) {
        return argument.values && argument.values->kind == ArgumentValues::Kind::prepared;
    });
    const bool is_needed = prepared != operation.arguments.end();
    if (!section.has("prepare")) {
        if (is_needed) {
            section.fail("has no 'prepare', which computes argument '" + prepared->name +
                         "'; write for example prepare = \"inputs.cpp\"");
        }
        return;
    }
    operation.prepare_path = read_source(section, "prepare", section.value<std::string>("prepare", "\"inputs.cpp\""));
    if (!is_needed) {
        section.fail_at("prepare",
                        "'prepare' computes nothing; write values = { prepared = true } in the arguments that it "
                        "computes");
    }
}

}  // namespace

Names names_of(const Operation& operation) {
    Names names{.values = {"element_bytes"}};
    for (const auto& field : device_fields()) names.values.insert("device." + std::string(field.name));
    names.values.insert(operation.extents.begin(), operation.extents.end());
    for (const auto& [layout, constants] : operation.layouts) {
        for (const auto& [name, value] : constants) names.values.insert(name);
    }
    return names;
}

Operation read_operation(const Section& section) {
    section.allow_only({"name", "summary", "extents", "operations", "bytes", "terms", "layouts", "parameters",
                        "prepare", "reference", "argument", "check"});
    Operation operation{.name = section.value<std::string>("name", "\"gemm\""), .path = section.path()};
    operation.summary = section.value_or<std::string>("summary", "\"what it computes\"", "");
    operation.extents = section.list<std::string>("extents", R"(["M", "N", "K"])");
    check_names(section, "extents", operation.extents);
    operation.layouts = read_layouts(section, operation.extents);
    const auto known = names_of(operation);
    operation.operations = section.expression("operations", "\"2 * M * N * K\"", known);
    operation.bytes = section.expression("bytes", "\"element_bytes * M * N\"", known);
    read_reference(section, operation);
    const bool has_bound = operation.reference.has_source() && !operation.reference.is_verifier();
    if (has_bound || section.has("terms")) {
        operation.terms = section.expression("terms", "\"K + 3\"", known);
    }
    const auto shape_names = with_parameters(section, known, operation);
    for (const auto& each : section.sections("argument", "[[operation.argument]]")) {
        operation.arguments.push_back(read_argument(each, shape_names));
    }
    operation.typed = operation.reference.kind != OperationReference::Kind::kernel || !operation.parameters.empty() ||
                      std::ranges::any_of(operation.arguments, is_typed);
    read_prepare(section, operation);
    check_arguments(section, operation);
    if (section.has("check") && section.node("check", "").is_string()) {
        section.fail_at("check",
                        "'check' must be a list of [[operation.check]]; write reference = \"none\" if there is "
                        "nothing to compare outputs with");
    }
    for (const auto& each : section.sections("check", "[[operation.check]]")) {
        operation.checks.push_back(read_check(each, operation.arguments));
        if (!operation.typed) continue;
        for (const std::string key : {"poison", "wide"}) {
            if (each.has(key)) {
                each.fail_at(key, "'" + key + "' is not for operations whose arguments declare types or values; " +
                                      (key == "poison" ? "write kind = \"inout\" for an output that the kernel reads"
                                                       : "write values = { uniform = [-1000, 1000] } for an argument"));
            }
        }
    }
    if (operation.checks.empty() && operation.typed) {
        for (const auto& argument : operation.arguments) {
            if (argument.kind == Argument::Kind::scalar && !argument.value) {
                section.fail("gives scalar '" + argument.name + "' no value; write for example value = 1 there");
            }
        }
        static const toml::table uniform{{"inputs", "uniform"}};
        operation.checks.push_back(
            read_check(Section(section.path(), "[[operation.check]]", uniform), operation.arguments));
    }
    if (operation.checks.empty()) {
        section.fail("has no [[operation.check]], so nothing would be verified; add one with inputs = \"uniform\"");
    }
    check_strides_belong_to_arrays(section, operation.arguments);
    complete_reference(section, operation);
    // The definition is hashed. It leaves out the keys that do not decide what a kernel is verified against. It also
    // leaves out `reference` and `layouts`, because operation_identity() adds the reference and the constants of the
    // problem's layout.
    operation.definition = section.text_without({"summary", "operations", "bytes", "layouts", "reference"});
    return operation;
}

}  // namespace smemtune
