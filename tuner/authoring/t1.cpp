#include "tuner/authoring/t1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "templates/arguments/argument_type.h"
#include "templates/source/source_scan.h"
#include "tuner/authoring/python_expression.h"
#include "tuner/authoring/signature.h"

namespace smemtune {

namespace {

using nlohmann::json;

constexpr const char* macro_of_tuner = "kernel_tuner";  // Kernel Tuner defines this macro, and kernels' sources test it

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

// Returns the member `key` of `object`, or null if there is none.
const json& member(const json& object, const std::string& key) {
    static const json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::string text_at(const json& object, const std::string& key, const std::string& where) {
    const auto& value = member(object, key);
    if (!value.is_string() || value.get<std::string>().empty()) refuse(where + " has no text '" + key + "'");
    return value.get<std::string>();
}

const json& specification_of(const json& file) {
    const auto& specification = member(file, "KernelSpecification");
    if (!specification.is_object())
        refuse("the file has no 'KernelSpecification'; add it, as format version 1.0 has it");
    if (!member(file, "ConfigurationSpace").is_object()) refuse("the file has no 'ConfigurationSpace'; add it");
    const auto language = text_at(specification, "Language", "'KernelSpecification'");
    if (language != "CUDA") refuse("the file is for " + language + "; smemtune tunes CUDA");
    return specification;
}

// Converts the name of a type in the T1 format, such as "int32" or "float4".
std::optional<ArgumentType> type_named(const std::string& name) {
    static const std::map<std::string, std::string> names{
        {"float", "f32"},  {"double", "f64"}, {"half", "f16"},  {"int8", "i8"},    {"uint8", "u8"},
        {"int16", "i16"},  {"uint16", "u16"}, {"int32", "i32"}, {"uint32", "u32"}, {"int64", "i64"},
        {"uint64", "u64"}, {"int", "i32"},    {"uint", "u32"}};
    static const std::regex vector(R"(([a-z]+)([234]))");
    std::smatch match;
    const auto whole = names.find(name);
    if (whole != names.end()) return argument_type(whole->second);
    if (!std::regex_match(name, match, vector)) return std::nullopt;
    const auto number = names.find(match[1]);
    if (number == names.end()) return std::nullopt;
    return argument_type(number->second + "x" + match[2].str());
}

std::string quoted(const std::string& text) { return json(text).dump(); }

class T1Import {
public:
    T1Import(const json& file, std::string name, std::string source)
        : file_(file), specification_(specification_of(file)), name_(std::move(name)), source_(std::move(source)) {}

    ImportedProblem problem() {
        read_parameters();
        read_sizes();
        read_arguments();
        ImportedProblem result{.manifest = head(), .sizes = sizes_text(), .left_out = {}};
        result.manifest += launch() + operation();
        result.left_out = std::move(left_out_);
        return result;
    }

private:
    template <class Read>
    auto in(const std::string& where, const Read& read) {
        try {
            return read();
        } catch (const std::invalid_argument& error) {
            refuse(where + ": " + error.what());
        }
    }
    // Translates a Python expression, or a number, to an expression of manifests.
    std::string expression(const json& value, const std::string& where) {
        return in(where, [&] {
            return PythonExpression(value.is_string() ? value.get<std::string>() : value.dump()).in_manifest(names_);
        });
    }

    void read_parameters() {
        static const json none = json::array();
        const auto& space = member(file_, "ConfigurationSpace");
        const auto& listed = member(space, "TuningParameters");
        if (!listed.is_array() || listed.empty()) refuse("'ConfigurationSpace' has no 'TuningParameters'");
        std::set<std::string> names;
        for (const auto& each : listed) {
            const auto name = text_at(each, "Name", "a tuning parameter");
            if (!names.insert(name).second) refuse("parameter '" + name + "' is there twice; take one out");
            const auto values = in("parameter '" + name + "'",
                                   [&] { return PythonExpression(text_at(each, "Values", "it")).value({}); });
            if (!values.is_array() || values.empty()) refuse("parameter '" + name + "': 'Values' are no list");
            lists_[name] = values;
            if (redefinition(lines_of(source_), {name}, {macro_of_tuner})) {
                if (values.size() > 1)
                    refuse("parameter '" + name +
                           "': the source defines it itself, so its values would change nothing; take it out");
                names_[name] = values.front();
                left_out_.push_back("parameter " + name + ": the source defines it, and it has one value");
                continue;
            }
            parameters_ += fmt::format("    {{ name = \"{}\", values = {}", name, values.dump());
            if (const auto& value = member(each, "Default"); std::ranges::count(values, value) > 0) {
                parameters_ += ", default = " + value.dump();
            } else if (!value.is_null()) {
                left_out_.push_back(
                    fmt::format("the default {} of {}, which is none of its values", value.dump(), name));
            }
            parameters_ += " },\n";
        }
        const auto& conditions = member(space, "Conditions");
        for (const auto& each : conditions.is_array() ? conditions : none) {
            const auto text = text_at(each, "Expression", "a condition");
            constraints_ += fmt::format("    {{ rule = {}, reason = \"of the imported file\" }},\n",
                                        quoted(expression(text, "condition '" + text + "'")));
        }
    }

    // Reads the extents from 'ProblemSize'. If it is missing, the only extent is the length of the longest argument.
    void read_sizes() {
        const auto& size = member(specification_, "ProblemSize");
        auto sizes = size.is_array() ? size : size.is_null() ? json::array() : json::array({size});
        for (const auto& each : sizes) {
            if (!each.is_number_integer()) refuse("'ProblemSize' holds " + each.dump() + ", which is no whole number");
        }
        while (sizes.size() > 1 && sizes.back() == 1) sizes.erase(sizes.end() - 1);
        static constexpr std::array names{"size_x", "size_y", "size_z"};
        if (sizes.size() > names.size()) refuse("'ProblemSize' has more than three dimensions");
        for (std::size_t i = 0; i < sizes.size(); ++i) extents_.emplace_back(names.at(i), sizes[i].get<std::int64_t>());
        lists_["ProblemSize"] = sizes;
        if (!extents_.empty()) return;
        std::int64_t longest = 1;
        for (const auto& each : member(specification_, "Arguments")) longest = std::max(longest, length_of(each));
        extents_.emplace_back("size", longest);
    }

    std::int64_t length_of(const json& argument) {
        const auto& size = member(argument, "Size");
        if (size.is_null()) return 0;
        const auto value = in("'Size'", [&] {
            return PythonExpression(size.is_string() ? size.get<std::string>() : size.dump()).value(lists_);
        });
        if (!value.is_number_integer() || value < 1) refuse("'Size' is " + value.dump() + ", no length");
        return value.get<std::int64_t>();
    }

    void read_arguments() {
        const auto kernel = base_name(text_at(specification_, "KernelName", "'KernelSpecification'"));
        const auto declared = kernel_arguments(source_, kernel);
        if (!declared) refuse("'KernelName' is '" + kernel + "', which the source does not define");
        const auto& listed = member(specification_, "Arguments");
        const auto count = listed.is_array() ? listed.size() : 0;
        if (count != declared->size()) {
            refuse(fmt::format("'Arguments' lists {}, but the kernel '{}' takes {}; complete 'Arguments'", count,
                               kernel, declared->size()));
        }
        const auto arguments = in_order(listed, *declared);
        bool has_output = false;
        for (std::size_t i = 0; i < count; ++i) has_output = read_argument(arguments[i], (*declared)[i]) || has_output;
        if (!has_output) refuse("no argument's 'AccessType' is WriteOnly or ReadWrite, so there is no result");
    }

    // Sorts the arguments of the file into the kernel's order, by their names. If the names differ from those of the
    // kernel's arguments, keeps the file's order and assumes that it is the kernel's order.
    json in_order(const json& listed, const std::vector<DeclaredArgument>& declared) {
        auto ordered = json::array();
        for (const auto& each : declared) {
            for (const auto& argument : listed) {
                if (member(argument, "Name") == each.name) ordered.push_back(argument);
            }
        }
        if (ordered.size() != declared.size() || ordered == listed) return listed;
        left_out_.emplace_back("the order of 'Arguments'; the manifest has the kernel's order");
        return ordered;
    }

    // Returns 'FillValue', a number or null. Files of BAT also write the number as a text.
    json fill_of(const json& argument, const std::string& where) {
        const auto& fill = member(argument, "FillValue");
        if (!fill.is_string() || fill.get<std::string>().empty()) return fill;
        return in(where + ": 'FillValue'", [&] { return PythonExpression(fill.get<std::string>()).value(lists_); });
    }

    std::string number_of(const json& argument, const DeclaredArgument& declared) {
        const auto name = text_at(argument, "Type", "argument '" + declared.name + "'");
        const auto type = type_named(name);
        if (!type) {
            refuse("argument '" + declared.name + "' has the type '" + name + "', which smemtune does not have");
        }
        const auto number = number_type(source_, declared.type);
        const bool is_vector = type->lanes > 1 || (number && number->find('x') != std::string::npos);
        if (!number || is_vector || *number == type->name()) return type->name();
        left_out_.push_back(fmt::format("the type {} of '{}': the source declares {}", name, declared.name, *number));
        return *number;
    }

    // Returns the file's 'ValidationThreshold'. If the file has none, returns a tolerance for sums whose terms are
    // added in a different order than in the reference.
    [[nodiscard]] std::string tolerance_of(const json& argument) const {
        for (const auto& each : member(specification_, "ReferenceArguments")) {
            const auto& threshold = member(each, "ValidationThreshold");
            if (member(each, "TargetName") != member(argument, "Name") || !threshold.is_number()) continue;
            return fmt::format("{{ absolute = {} }}", threshold.dump());
        }
        return "{ absolute = 1e-4, relative = 1e-4 }";
    }

    // Adds an input for an array in constant memory. The input's name gets the suffix `_symbol`, because
    // read_argument() has already added an argument with the array's name.
    void add_symbol(const json& argument, const std::string& type, std::int64_t length, const json& bound) {
        const auto name = text_at(argument, "Name", "an argument in constant memory");
        const std::regex array(R"(__constant__[^;]*\b)" + name + R"(\s*\[)");
        if (!std::regex_search(without_comments(source_), array)) {
            left_out_.push_back("the constant memory '" + name + "', which the source does not declare");
            return;
        }
        arguments_ += fmt::format(
            "    {{ name = \"{0}_symbol\", kind = \"input\", type = \"{1}\", shape = [\"{2}\"], symbol = \"{0}\", "
            "values = {{ "
            "uniform = [0, {3}] }} }},\n",
            name, type, length, bound.dump());
    }

    // Adds one argument to the manifest. Returns whether the kernel writes the argument.
    bool read_argument(const json& argument, const DeclaredArgument& declared) {
        const auto where = "argument '" + declared.name + "'";
        const auto type = number_of(argument, declared);
        const bool scalar = text_at(argument, "MemoryType", where) == "Scalar";
        if (scalar == declared.pointer) {
            refuse(where + (scalar ? " is a scalar, but the kernel takes a pointer"
                                   : " is a vector, but the kernel takes a value"));
        }
        const auto fill = fill_of(argument, where);
        arguments_ += fmt::format("    {{ name = \"{}\", ", declared.name);
        if (scalar) {
            if (!fill.is_number()) refuse(where + " has no number 'FillValue'");
            arguments_ += fmt::format("kind = \"scalar\", type = \"{}\", value = {} }},\n", type, fill.dump());
            return false;
        }
        const auto length = length_of(argument);
        if (length == 0) refuse(where + " has no 'Size'");
        bytes_ += length * static_cast<std::int64_t>(argument_type(type).bytes());
        const auto access = text_at(argument, "AccessType", where);
        const bool is_written = access == "WriteOnly" || access == "ReadWrite" || member(argument, "Output") == 1;
        const bool is_floating = argument_type(type).number->is_floating;
        arguments_ +=
            fmt::format(R"(kind = "{}", type = "{}", shape = ["{}"])", is_written ? "inout" : "input", type, length);
        const auto how =
            member(argument, "FillType").is_string() ? member(argument, "FillType").get<std::string>() : "";
        const auto bound = fill.is_number() && fill > 0 ? fill : json(1);
        if (how == "Constant" && fill.is_number()) {
            const auto value = is_floating ? fill : json(static_cast<std::int64_t>(fill.get<double>()));
            arguments_ += fmt::format(", values = {{ constant = {} }}", value.dump());
        } else {
            arguments_ += fmt::format(", values = {{ uniform = [0, {}] }}",
                                      is_floating ? bound.dump() : std::to_string(bound.get<std::int64_t>()));
            if (how != "Random")
                left_out_.push_back(fmt::format("{}: its 'FillType' {}; it gets random values", where, how));
        }
        if (is_written && is_floating) arguments_ += ", tolerance = " + tolerance_of(argument);
        arguments_ += " },\n";
        if (member(argument, "MemType") == "Constant") add_symbol(argument, type, length, bound);
        return is_written;
    }

    [[nodiscard]] std::string sizes_text() const {
        std::string text;
        for (const auto& [name, value] : extents_) text += (text.empty() ? "" : "x") + std::to_string(value);
        return text;
    }

    std::string options() {
        std::string text;
        if (names_in_conditions({lines_of(source_)}).contains(macro_of_tuner))
            text = quoted(fmt::format("-D{}=1", macro_of_tuner));
        for (const auto& each : member(specification_, "CompilerOptions")) {
            const auto option = each.is_string() ? each.get<std::string>() : "";
            if (option.empty()) continue;
            if (option.starts_with("-I") || option == "-std=c++11" || option == "-std=c++14") {
                left_out_.push_back("the option " + option);
                continue;
            }
            text += (text.empty() ? "" : ", ") + quoted(option);
        }
        return text.empty() ? "" : fmt::format("options   = [{}]\n", text);
    }

    std::string head() {
        std::string fixed;
        for (const auto& [name, value] : extents_) {
            fixed += fmt::format("{}{} == {}", fixed.empty() ? "" : " && ", name, value);
        }
        const auto kernel = text_at(specification_, "KernelName", "'KernelSpecification'");
        const auto entry = kernel == name_ ? "" : fmt::format("entry     = {}\n", quoted(kernel));
        return fmt::format(
            "# Imported by 'smemtune import'.\nparameter  = [\n{0}]\nconstraint = [\n{1}    {{ rule = \"{2}\", reason "
            "= "
            "\"the imported file fixes the size\" }},\n]\n\n[template]\nname      = \"{3}\"\noperation = "
            "\"{3}\"\ntypes     "
            "= [\"f32\"]\nsource    = {4}\n{5}{6}",
            parameters_, constraints_, fixed, name_, quoted(t1_source_path(file_)), entry, options());
    }

    // Returns the number of blocks in one dimension of the grid, as an expression of manifests.
    std::string blocks(const std::string& axis, std::size_t dimension, const std::string& threads) {
        const auto& divisors = member(specification_, "GridDiv" + axis);
        const auto& sizes = lists_["ProblemSize"];
        if (dimension < sizes.size() && divisors.is_array()) {
            std::string product;
            for (const auto& each : divisors) {
                product += (product.empty() ? "" : " * ") + expression(each, "'GridDiv" + axis + "'");
            }
            return product.empty() ? extents_[dimension].first
                                   : fmt::format("ceil_div({}, {})", extents_[dimension].first, product);
        }
        const auto& size = member(member(specification_, "GlobalSize"), axis);
        if (size.is_null()) return dimension < sizes.size() ? extents_[dimension].first : "1";
        const auto text = expression(size, "'GlobalSize'");
        const bool in_threads = member(specification_, "GlobalSizeType") == "OpenCL";
        return in_threads ? fmt::format("ceil_div({}, {})", text, threads) : text;
    }

    std::string launch() {
        std::string block;
        std::string grid;
        std::size_t dimension = 0;
        for (const std::string axis : {"X", "Y", "Z"}) {
            const auto& local = member(member(specification_, "LocalSize"), axis);
            const auto threads = local.is_null() ? "1" : expression(local, "'LocalSize'");
            block += (block.empty() ? "" : ", ") + quoted(threads);
            grid += (grid.empty() ? "" : ", ") + quoted(blocks(axis, dimension++, threads));
        }
        std::string shared;
        const auto& bytes = member(specification_, "SharedMemory");
        if (without_comments(source_).find("extern __shared__") != std::string::npos && !bytes.is_null()) {
            shared = fmt::format("dynamic_shared_bytes = {}\n", quoted(expression(bytes, "'SharedMemory'")));
        } else if (bytes.is_number() && bytes != 0) {
            left_out_.push_back(
                fmt::format("'SharedMemory' {}: the source has no dynamic shared memory", bytes.dump()));
        }
        return fmt::format("\n[launch]\nblock = [{}]\ngrid  = [{}]\n{}\n[requires]\nhost = true\n", block, grid,
                           shared);
    }

    [[nodiscard]] std::string operation() const {
        std::string extents;
        for (const auto& [name, value] : extents_) extents += (extents.empty() ? "" : ", ") + quoted(name);
        return fmt::format(
            "\n[operation]\nname       = \"{}\"\nextents    = [{}]\noperations = \"0\"\nbytes      = \"{}\"\nterms     "
            " = "
            "\"1\"\nreference  = {{ configuration = \"default\" }}\ncheck      = [{{ inputs = \"uniform\" "
            "}}]\nargument   = "
            "[\n{}]\n",
            name_, extents, bytes_, arguments_);
    }

    const json& file_;
    const json& specification_;
    std::string name_, source_;
    PythonExpression::Names names_;  // the values of parameters that the source itself defines
    PythonExpression::Names lists_;  // the list of values of each parameter, and 'ProblemSize'
    std::vector<std::pair<std::string, std::int64_t>> extents_;
    std::vector<std::string> left_out_;
    std::string parameters_, constraints_, arguments_;
    std::int64_t bytes_ = 0;
};

}  // namespace

std::string t1_source_path(const json& file) {
    const auto& specification = specification_of(file);
    auto path = text_at(specification, "KernelFile", "'KernelSpecification'");
    if (path.starts_with("/") || path.find("..") != std::string::npos) {
        refuse("'KernelFile' is '" + path + "', outside the file's folder; move it there");
    }
    return path;
}

ImportedProblem import_t1(const json& file, const std::string& name, const std::string& source) {
    return T1Import(file, name, source).problem();
}

}  // namespace smemtune
