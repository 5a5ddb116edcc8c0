#include "templates/manifest/argument_section.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace smemtune {

namespace {

ArgumentType read_type(const Section& section, const Argument& argument) {
    const auto name = section.value<std::string>("type", "\"f32\"");
    try {
        const auto type = argument_type(name);
        const bool is_index = !type.number->is_floating && !type.is_struct && type.bytes() >= 4;
        switch (argument.kind) {
            case Argument::Kind::extent:
            case Argument::Kind::stride:
            case Argument::Kind::batch_stride:
                if (is_index && type.lanes == 1) break;
                section.fail_at("type",
                                "'type' is " + name + ", but extents and strides are one of i32, u32, i64, u64");
            case Argument::Kind::scalar:
                if (type.is_struct) {
                    section.fail_at("type", "'type' is " + name +
                                                ", but a scalar is a single number; pass structs in arrays of one "
                                                "element, or the numbers one by one");
                }
                if (type.lanes == 1) break;
                section.fail_at("type", "'type' is " + name +
                                            ", but a scalar is a single number; write one of its "
                                            "type, " +
                                            std::string(type.number->name));
            default: break;
        }
        return type;
    } catch (const std::invalid_argument& error) {
        section.fail_at("type", error.what());
    }
}

// Reads the `shape` of an array of any rank, and treats the array as a matrix. The last dimension is the number of
// columns; the product of the other dimensions is the number of rows.
void read_shape(const Section& section, const Names& known, Argument& argument) {
    for (const std::string key : {"rows", "columns", "stride", "count", "batch_stride"}) {
        if (section.has(key)) {
            section.fail_at(key, "'" + key +
                                     "' and 'shape' both give the size; leave one out (arrays with a stride have "
                                     "'rows' and 'columns')");
        }
    }
    std::string rows;
    for (const auto& text : section.list<std::string>("shape", R"(["N"])")) {
        if (!argument.shape.empty()) rows += (rows.empty() ? "(" : " * (") + argument.shape.back().text() + ")";
        argument.shape.push_back(section.checked("shape", text, known));
    }
    argument.rows = Expression(rows.empty() ? "1" : rows);
    argument.columns = argument.shape.back();
}

void read_size(const Section& section, const Names& known, Argument& argument) {
    if (section.has("shape")) return read_shape(section, known, argument);
    argument.rows = section.expression("rows", "\"M\"", known);
    argument.columns = section.expression("columns", "\"K\"", known);
    argument.stride = section.value_or<std::string>("stride", "\"lda\"", "");
    if (section.has("count")) argument.count = section.expression("count", "\"BATCH\"", known);
    argument.batch_stride = section.value_or<std::string>("batch_stride", "\"stride_a\"", "");
    if (!argument.batch_stride.empty() && !section.has("count")) {
        section.fail_at("batch_stride", "'batch_stride' needs a 'count'; write for example count = \"BATCH\"");
    }
}

// Reads the key `values` of an argument, such as `values = { uniform = [0, 255] }`.
class ValuesReader {
public:
    ValuesReader(const Section& section, const NumberType& type, const Names& known)
        : section_(section), type_(type), known_(known) {}

    [[nodiscard]] ArgumentValues read() const {
        const auto& table = section_.table_at("values", example());
        if (table.size() != 1) fail("holds " + std::to_string(table.size()) + " distributions instead of one");
        const std::string name(table.begin()->first.str());
        const auto& node = table.begin()->second;
        if (name == "uniform") return uniform(pair(name, node));
        if (name == "normal") return normal(pair(name, node));
        if (name == "constant") return {ArgumentValues::Kind::constant, bound(node), {}, {}, {}};
        if (name == "below") return below(node);
        if (name == "sorted") return sorted(node);
        if (name == "permutation") return permutation(node);
        if (name == "file") return file(node);
        if (name == "prepared") return prepared(node);
        fail("knows no '" + name + "'; known: uniform normal constant below sorted permutation file prepared");
    }

private:
    [[nodiscard]] std::string example() const {
        return type_.is_floating ? "{ uniform = [-1, 1] }" : "{ uniform = [0, 100] }";
    }
    [[noreturn]] void fail(const std::string& what) const {
        section_.fail_at("values", "'values' " + what + "; write for example values = " + example());
    }
    void must_be_integer(const std::string& name) const {
        if (type_.is_floating)
            fail("holds '" + name + "', which is for integers, but the type is " + std::string(type_.name));
    }
    [[nodiscard]] ValueBound bound(const toml::node& node) const {
        if (const auto text = node.value_exact<std::string>()) {
            return {0, section_.checked("values", *text, known_)};
        }
        const auto number = node.value<double>();
        if (!number || node.is_boolean()) fail("holds what is neither a number nor an expression");
        if (!type_.holds(*number)) {
            section_.fail_at("values", "'values' holds a number that " + std::string(type_.name) +
                                           " does not have; write one that it has");
        }
        return {*number, std::nullopt};
    }
    [[nodiscard]] std::pair<ValueBound, ValueBound> pair(const std::string& name, const toml::node& node) const {
        const auto* array = node.as_array();
        if (array == nullptr || array->size() != 2) fail("holds '" + name + "', which takes two numbers");
        return {bound(*array->get(0)), bound(*array->get(1))};
    }
    // Numbers computed from an infinity are NaNs, and a reference that is NaN everywhere shows no error of a kernel.
    void must_be_finite(const std::string& name, const std::pair<ValueBound, ValueBound>& bounds) const {
        if (std::isfinite(bounds.first.number) && std::isfinite(bounds.second.number)) return;
        fail("holds '" + name + "' with a number that is not finite");
    }
    [[nodiscard]] ArgumentValues uniform(const std::pair<ValueBound, ValueBound>& bounds) const {
        const auto& [first, second] = bounds;
        must_be_finite("uniform", bounds);
        if (!first.expression && !second.expression && first.number > second.number) {
            fail("holds 'uniform', whose range runs backwards");
        }
        return {ArgumentValues::Kind::uniform, first, second, {}, {}};
    }
    [[nodiscard]] ArgumentValues normal(const std::pair<ValueBound, ValueBound>& bounds) const {
        if (!type_.is_floating)
            fail("holds 'normal', which is for floating types, but the type is " + std::string(type_.name));
        must_be_finite("normal", bounds);
        return {ArgumentValues::Kind::normal, bounds.first, bounds.second, {}, {}};
    }
    // Returns the limit of `below` or `sorted`, which is a whole number or an expression, as the text of an expression.
    [[nodiscard]] std::string limit(const std::string& name, const toml::node& node) const {
        must_be_integer(name);
        const auto text = node.value_exact<std::string>();
        const auto number = node.value_exact<std::int64_t>();
        if (!text && !number) fail("holds '" + name + "', which takes a number or an expression, such as \"N\"");
        return text ? *text : std::to_string(*number);
    }
    [[nodiscard]] ArgumentValues below(const toml::node& node) const {
        const auto text = "(" + limit("below", node) + ") - 1";
        return {ArgumentValues::Kind::uniform, {}, {0, section_.checked("values", text, known_)}, {}, {}};
    }
    [[nodiscard]] ArgumentValues sorted(const toml::node& node) const {
        return {
            ArgumentValues::Kind::sorted, {}, {0, section_.checked("values", limit("sorted", node), known_)}, {}, {}};
    }
    [[nodiscard]] ArgumentValues permutation(const toml::node& node) const {
        must_be_integer("permutation");
        if (node.value_exact<bool>() != true) fail("holds 'permutation', which is written permutation = true");
        return {ArgumentValues::Kind::permutation, {}, {}, {}, {}};
    }

    [[nodiscard]] ArgumentValues prepared(const toml::node& node) const {
        if (node.value_exact<bool>() != true) fail("holds 'prepared', which is written prepared = true");
        return {ArgumentValues::Kind::prepared, {}, {}, {}, {}};
    }
    [[nodiscard]] ArgumentValues file(const toml::node& node) const {
        const auto name = node.value_exact<std::string>();
        if (!name || !is_data_file(*name)) fail("holds 'file', which names a file NAME.npy, NAME.bin or NAME.raw");
        const auto path = section_.beside(*name);
        if (path.starts_with("..") || path.starts_with("/")) {
            fail("names '" + *name + "', which is outside the templates folder");
        }
        return {ArgumentValues::Kind::file, {}, {}, path, nullptr};
    }

    const Section& section_;
    const NumberType& type_;
    const Names& known_;
};

double read_distance(const Section& section, const toml::table& table, const std::string& key, double most) {
    const auto* node = table.get(key);
    if (node == nullptr) return 0;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (value && *value >= 0 && *value <= most) return *value;
    section.fail_at("tolerance", "'tolerance' holds '" + key + "', which is a number from 0" +
                                     (most == 1 ? " to 1" : "") + "; write for example tolerance = { " + key +
                                     " = 0.001 }");
}

Tolerance read_tolerance(const Section& section) {
    const auto& table = section.table_at("tolerance", "{ relative = 1e-5 }");
    for (const auto& [key, node] : table) {
        if (key == "absolute" || key == "relative" || key == "share" || key == "equal_nans") continue;
        section.fail_at("tolerance", "'tolerance' knows no '" + std::string(key.str()) +
                                         "'; known: absolute relative share equal_nans");
    }
    Tolerance tolerance;
    tolerance.absolute = read_distance(section, table, "absolute", 1e300);
    tolerance.relative = read_distance(section, table, "relative", 1e300);
    tolerance.share = read_distance(section, table, "share", 1);
    tolerance.has_distance = table.contains("absolute") || table.contains("relative");
    if (const auto* node = table.get("equal_nans")) {
        const auto value = node->value_exact<bool>();
        if (!value) section.fail_at("tolerance", "'tolerance' holds 'equal_nans', which is true or false");
        tolerance.equal_nans = *value;
    }
    return tolerance;
}

void only_for(const Section& section, const std::string& key, bool is_allowed, const std::string& whom) {
    if (!is_allowed && section.has(key)) section.fail_at(key, "'" + key + "' is only for " + whom + "; leave it out");
}

void read_array(const Section& section, const Names& known, Argument& argument) {
    read_size(section, known, argument);
    const auto type = argument.type.value_or(argument_type("f32"));
    if (section.has("values")) argument.values = ValuesReader(section, *type.number, known).read();
    const bool is_ordered = argument.values && (argument.values->kind == ArgumentValues::Kind::sorted ||
                                                argument.values->kind == ArgumentValues::Kind::permutation);
    if (is_ordered && type.lanes > 1) {
        section.fail_at("values", "'values' orders single numbers, but the type is " + type.name() +
                                      "; declare the numbers, as type = \"" + std::string(type.number->name) + "\"");
    }
    if (type.is_struct) {
        const bool fits = !argument.values || argument.values->kind == ArgumentValues::Kind::file ||
                          argument.values->kind == ArgumentValues::Kind::prepared ||
                          argument.values->kind == ArgumentValues::Kind::constant;
        if (!fits) {
            section.fail_at("values", "'values' computes numbers, but the type is " + type.name() +
                                          "; write values = { file = \"" + argument.name +
                                          ".bin\" }, { constant = 0 } or { prepared = true }");
        }
        if (section.has("tolerance")) {
            section.fail_at("tolerance", "'tolerance' is about numbers, but " + type.name() +
                                             " is compared byte by byte; leave it out");
        }
    }
    const bool is_filled = argument.kind == Argument::Kind::input || argument.is_read;
    if (is_filled && !type.number->is_floating && !argument.values) {
        section.fail("gives '" + argument.name + "' of type " + type.name() +
                     (type.is_struct ? " no values; write for example values = { file = \"" + argument.name + ".bin\" }"
                                     : " no range; write for example values = { uniform = [0, 100] } or values = { "
                                       "below = \"N\" }"));
    }
    if (section.has("tolerance")) argument.tolerance = read_tolerance(section);
}

std::string read_symbol(const Section& section, const Argument& argument) {
    auto symbol = section.value<std::string>("symbol", "\"filter\"");
    if (!is_identifier(symbol)) {
        section.fail_at("symbol", "'symbol' is '" + symbol +
                                      "', which is no C++ identifier; name a __constant__ or "
                                      "__device__ array of the source, outside namespaces");
    }
    if (argument.stride.empty() && argument.batch_stride.empty()) return symbol;
    section.fail_at("symbol", "'symbol' and a stride do not fit together: a symbol is dense; leave the stride out");
}

}  // namespace

Argument read_argument(const Section& section, const Names& known) {
    section.allow_only({"name", "kind", "type", "shape", "rows", "columns", "stride", "count", "batch_stride", "values",
                        "value", "tolerance", "symbol", "restore"});
    static const std::map<std::string, Argument::Kind> kinds{{"extent", Argument::Kind::extent},
                                                             {"stride", Argument::Kind::stride},
                                                             {"batch_stride", Argument::Kind::batch_stride},
                                                             {"scalar", Argument::Kind::scalar},
                                                             {"input", Argument::Kind::input},
                                                             {"output", Argument::Kind::output},
                                                             {"inout", Argument::Kind::output}};
    Argument argument{.name = section.value<std::string>("name", "\"A\"")};
    const auto word = section.value<std::string>("kind", "\"input\"");
    const auto kind = kinds.find(word);
    if (kind == kinds.end()) {
        section.fail_at("kind", "'kind' is '" + word +
                                    "', which is none of extent, stride, batch_stride, scalar, input, output, inout");
    }
    argument.kind = kind->second;
    argument.is_read = kind->first == "inout";
    if (section.has("type")) argument.type = read_type(section, argument);
    only_for(section, "values", argument.kind == Argument::Kind::input || argument.is_read, "inputs and inouts");
    only_for(section, "tolerance", argument.kind == Argument::Kind::output, "outputs and inouts");
    only_for(section, "value", argument.kind == Argument::Kind::scalar, "scalars");
    only_for(section, "symbol", argument.kind == Argument::Kind::input, "inputs");
    only_for(section, "restore", argument.is_read, "inouts");
    argument.is_restored = argument.is_read && section.value_or<bool>("restore", "false", true);
    if (argument.is_matrix()) read_array(section, known, argument);
    if (section.has("symbol")) argument.symbol = read_symbol(section, argument);
    if (section.has("value")) {
        const auto value = section.node("value", "1").value<double>();
        if (!value) section.fail_at("value", "'value' must be a number; write for example value = 1");
        if (argument.type && !argument.type->number->holds(*value)) {
            section.fail_at("value", "'value' is not a value of " + argument.type->name() + "; write one that it has");
        }
        argument.value = value;
    }
    return argument;
}

bool is_typed(const Argument& argument) {
    return argument.type || argument.values || argument.tolerance || argument.is_read || !argument.symbol.empty();
}

}  // namespace smemtune
