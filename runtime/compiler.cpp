#include "runtime/compiler.h"

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"
#include "templates/reference/reference_section.h"

namespace smemtune {

namespace {

// The purpose of a program that belongs to a template.
enum class Role { kernel, reference, verify_kernel, verify_host, prepare };

// The name of a program with this role in messages, such as "the kernel".
std::string text_of(Role role) {
    switch (role) {
        case Role::kernel: return "the kernel";
        case Role::reference: return "the reference";
        case Role::verify_kernel:
        case Role::verify_host: return "the verify function";
        case Role::prepare: break;
    }
    return "the prepare function";
}

// The parameters that a launch passes. Keeps two things for each parameter: the code of its type (see code_of) and a
// text for messages.
class Signature {
public:
    Signature(const KernelTemplate& kernel, const Problem& problem, Role role)
        : problem_(problem), typed_(kernel.operation.typed) {
        const auto& arguments = kernel.operation.arguments;
        for (const auto& argument : arguments) {
            if (role != Role::kernel || argument.symbol.empty()) add(argument);
        }
        if (role != Role::kernel) {
            for (const auto& [name, value] : kernel.operation.parameters) add("int " + name, sizeof(int));
        }
        if (role == Role::verify_kernel || role == Role::verify_host) {
            for (const auto& argument : arguments) {
                if (argument.is_read) add_before(argument);
            }
            const bool on_host = role == Role::verify_host;
            add(on_host ? "char* message" : "long long* wrong", pointer_to(argument_type(on_host ? "i8" : "i64")));
            return;
        }
        if (role == Role::prepare) return;
        if (role == Role::reference) {
            for (const auto& argument : arguments) {
                if (argument.kind == Argument::Kind::output) add_reference(argument);
            }
            return;
        }
        for (const auto& parameter : kernel.parameters) {
            if (parameter.runtime) add("int " + parameter.name, sizeof(int));
        }
        for (const auto& map : kernel.tensor_maps) add("tensor map " + map.name, (typed_ ? 200 : 0) + 128);
        if (kernel.workspace_bytes) add("the address of its workspace", any_pointer());
    }

    [[nodiscard]] const std::string& codes() const { return codes_; }
    [[nodiscard]] const std::string& names() const { return names_; }

private:
    static constexpr std::int64_t pointer = 1000;

    void add(const std::string& name, std::int64_t code) {
        codes_ += (codes_.empty() ? "" : ", ") + std::to_string(code);
        names_ += (names_.empty() ? "" : ", ") + name;
    }
    [[nodiscard]] std::int64_t any_pointer() const { return typed_ ? pointer : 0; }
    // The code of a type: its size in bytes, plus 100 for a floating-point number and 200 for a struct. If the
    // operation declares no types, the code is the size alone.
    [[nodiscard]] std::int64_t code_of(const ArgumentType& type) const {
        if (!typed_) return type.bytes();
        if (type.number->is_half() || type.lanes > 1) return 200 + type.bytes();
        return (type.number->is_floating ? 100 : 0) + type.bytes();
    }
    [[nodiscard]] std::int64_t pointer_to(const ArgumentType& type) const {
        const bool is_struct = type.number->is_half() || type.lanes > 1;
        return any_pointer() + (typed_ && !is_struct ? code_of(type) : 0);
    }
    // The manifest may declare no type for a matrix or scalar. If the default (type_of()) is then the problem's type,
    // messages write `Element`, its name in configuration.h.
    void add(const Argument& argument) {
        const auto type = type_of(argument, problem_.type);
        const bool is_number = argument.is_matrix() || argument.kind == Argument::Kind::scalar;
        const bool is_element = !argument.type && is_number && type.name() == problem_.type;
        const auto name = is_element ? "Element" : type.cpp_name();
        if (!argument.is_matrix()) return add(name + " " + argument.name, code_of(type));
        add((argument.kind == Argument::Kind::input ? "const " : "") + name + "* " + argument.name, pointer_to(type));
    }
    void add_before(const Argument& argument) {
        const auto type = type_of(argument, problem_.type);
        const auto name = argument.type ? type.cpp_name() : std::string("Element");
        add("const " + name + "* " + argument.name + " before", pointer_to(type));
    }
    void add_reference(const Argument& output) {
        const auto type = type_of(output, problem_.type);
        if (output.is_integer()) return add(type.cpp_name() + "* value of " + output.name, pointer_to(type));
        const auto number = pointer_to(argument_type("f64"));
        add("double* value of " + output.name, number);
        if (output.has_magnitude()) add("double* magnitude of " + output.name, number);
    }

    const Problem& problem_;
    bool typed_;
    std::string codes_, names_;
};

// Source text that checks a kernel's parameters against the manifest. Launches pass the manifest's parameters, and a
// kernel with other parameters would read beyond them. The text is appended to the source, because the source's lines
// then keep their numbers. The check compares sizes only and gives every pointer the size 0. The source is unlikely to
// have macros with the names in this text.
constexpr const char* check_of_sizes = R"(
template <class SmemtuneT> constexpr int smemtune_size = sizeof(SmemtuneT);
template <class SmemtuneT> constexpr int smemtune_size<SmemtuneT*> = 0;
template <int...> struct SmemtuneSizes {};
template <class> struct SmemtuneOf;
template <class... SmemtuneT> struct SmemtuneOf<void (*)(SmemtuneT...)> {
    using SmemtuneType = SmemtuneSizes<smemtune_size<SmemtuneT>...>;
};
template <class, class> constexpr bool smemtune_same = false;
template <class SmemtuneT> constexpr bool smemtune_same<SmemtuneT, SmemtuneT> = true;
static_assert(smemtune_same<SmemtuneOf<decltype(&)";

// The check for an operation that declares types. It compares the codes of Signature::code_of() instead of sizes, so it
// also tells floating-point numbers from integers, and structs from both. The code of a pointer is 1000 plus the code
// of the number that it points to. A pointer to void or to a struct has the code 1000, which fits any pointer. In the
// text below, smemtune_size is the code of a type.
constexpr const char* check_of_types = R"(
template <class SmemtuneT> constexpr int smemtune_size = sizeof(SmemtuneT) + (__is_class(SmemtuneT) ? 200 : 0);
template <> constexpr int smemtune_size<float> = 104;
template <> constexpr int smemtune_size<double> = 108;
template <> constexpr int smemtune_size<void> = 0;
template <class SmemtuneT> constexpr int smemtune_size<const SmemtuneT> = smemtune_size<SmemtuneT>;
template <class SmemtuneT> constexpr int smemtune_size<volatile SmemtuneT> = smemtune_size<SmemtuneT>;
template <class SmemtuneT> constexpr int smemtune_size<SmemtuneT*> =
    1000 + (smemtune_size<SmemtuneT> < 200 ? smemtune_size<SmemtuneT> : 0);
template <int...> struct SmemtuneSizes {};
template <class> struct SmemtuneOf;
template <class... SmemtuneT> struct SmemtuneOf<void (*)(SmemtuneT...)> {
    using SmemtuneType = SmemtuneSizes<smemtune_size<SmemtuneT>...>;
};
template <class, class> constexpr bool smemtune_same = false;
template <> constexpr bool smemtune_same<SmemtuneSizes<>, SmemtuneSizes<>> = true;
template <int smemtune_a, int... smemtune_as, int smemtune_b, int... smemtune_bs>
constexpr bool smemtune_same<SmemtuneSizes<smemtune_a, smemtune_as...>, SmemtuneSizes<smemtune_b, smemtune_bs...>> =
    (smemtune_a == smemtune_b || (smemtune_a == 1000 && smemtune_b > 1000) ||
     (smemtune_b == 1000 && smemtune_a > 1000)) && smemtune_same<SmemtuneSizes<smemtune_as...>,
                                                                 SmemtuneSizes<smemtune_bs...>>;
static_assert(smemtune_same<SmemtuneOf<decltype(&)";

std::string check_of_symbols(const KernelTemplate& kernel) {
    std::string text;
    for (const auto& argument : kernel.operation.arguments) {
        if (argument.symbol.empty()) continue;
        text += "static_assert(sizeof(" + argument.symbol + ") > 0, \"symbol of argument " + argument.name + "\");\n";
    }
    return text;
}

// The template's files without its data files (numbers), which no compiler reads.
SourceTree sources_of(const KernelTemplate& kernel_template) {
    SourceTree sources;
    for (const auto& [path, text] : kernel_template.files) {
        if (!is_data_file(path)) sources.emplace_hint(sources.end(), path, text);
    }
    return sources;
}

std::string check_of_parameters(const KernelTemplate& kernel, const Problem& problem, const Program& program,
                                Role role) {
    const Signature signature(kernel, problem, role);
    return "\n#line 1 \"" + program.source_path + signature_check_mark + program.entry + "'\"" +
           (kernel.operation.typed ? check_of_types : check_of_sizes) + program.entry +
           ")>::SmemtuneType, SmemtuneSizes<" + signature.codes() + ">>, \"by its manifest " + text_of(role) +
           " takes (" + signature.names() + ")\");\n" + (role == Role::kernel ? check_of_symbols(kernel) : "");
}

// A program that the user provides beside the kernel, such as the reference. It is compiled without the template's
// options, because fast mathematics, for example, must not change a reference.
Program program_beside(const KernelTemplate& kernel, const Problem& problem, Role role, const std::string& entry,
                       const std::string& path, const SourceNeeds& needs) {
    Program program{entry, path, sources_of(kernel), {}, kernel.include_folders, needs};
    // The program may be in the same source as the kernel, and a kernel's source needs a configuration. Therefore the
    // program gets the default configuration.
    program.files["configuration.h"] = render(kernel, default_configuration(kernel), problem);
    program.files.at(program.source_path) += check_of_parameters(kernel, problem, program, role);
    program.on_host = is_host_source(path);
    return program;
}

}  // namespace

std::string readable_error(std::string line) {
    const auto mark = line.find(signature_check_mark);
    if (mark == std::string::npos) return line;
    const auto error = line.find("error: ", mark);
    if (error == std::string::npos) return line;
    const auto end = line.rfind('\'', error);  // the quote that ends the name of the entry point
    line.replace(end + 1, error + std::string("error: ").size() - end - 1, ": ");
    return line;
}

Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem) {
    Program program{entry_of(kernel_template, configuration),
                    kernel_template.source_path,
                    sources_of(kernel_template),
                    kernel_template.options,
                    kernel_template.include_folders,
                    kernel_template.source_needs};
    // Macros of the manifest must be defined from the first line on. An `#if` that uses them may come before the
    // source's own include of configuration.h, or enclose it.
    program.needs.configuration = program.needs.configuration || !kernel_template.macros.empty();
    for (const auto& argument : kernel_template.operation.arguments) {
        if (!argument.symbol.empty()) program.symbols.push_back(argument.symbol);
    }
    program.files["configuration.h"] = render(kernel_template, configuration, problem);
    program.files.at(program.source_path) += check_of_parameters(kernel_template, problem, program, Role::kernel);
    return program;
}

Program reference_program(const KernelTemplate& kernel_template, const Problem& problem) {
    if (kernel_template.operation.reference.kind == OperationReference::Kind::configuration) {
        return program_of(kernel_template, default_configuration(kernel_template), problem);
    }
    using Kind = OperationReference::Kind;
    const auto& operation = kernel_template.operation;
    const auto role = operation.reference.kind == Kind::verify_kernel ? Role::verify_kernel
                      : operation.reference.kind == Kind::verify_host ? Role::verify_host
                                                                      : Role::reference;
    return program_beside(kernel_template, problem, role, role == Role::reference ? "reference" : "verify",
                          operation.reference_path, kernel_template.reference_needs);
}

Program prepare_program(const KernelTemplate& kernel_template, const Problem& problem) {
    return program_beside(kernel_template, problem, Role::prepare, "prepare", kernel_template.operation.prepare_path,
                          kernel_template.prepare_needs);
}

std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options) {
    if (device.is_host()) return std::make_unique<HostCompiler>(options);
    return std::make_unique<NvrtcCompiler>(device.compute_capability, options);
}

}  // namespace smemtune
