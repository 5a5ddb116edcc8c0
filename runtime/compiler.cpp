#include "runtime/compiler.h"

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"

namespace smemtune {

namespace {

// The parameters that a launch passes, by their names in messages.
class Signature {
public:
    Signature(const KernelTemplate& kernel, const Problem& problem, bool of_reference)
        : problem_(problem), typed_(kernel.operation.typed) {
        for (const auto& argument : kernel.operation.arguments) {
            if (of_reference || argument.symbol.empty()) add(argument);
        }
        if (of_reference) {
            for (const auto& argument : kernel.operation.arguments) {
                if (argument.kind == Argument::Kind::output) add_reference(argument);
            }
            return;
        }
        for (const auto& parameter : kernel.parameters) {
            if (parameter.runtime) add("int " + parameter.name, sizeof(int));
        }
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
    // The size of a number, and whether it is an integer (0), a floating number (100) or a struct (200).
    [[nodiscard]] std::int64_t code_of(const ArgumentType& type) const {
        if (!typed_) return type.bytes();
        if (type.number->is_half() || type.lanes > 1) return 200 + type.bytes();
        return (type.number->is_floating ? 100 : 0) + type.bytes();
    }
    [[nodiscard]] std::int64_t pointer_to(const ArgumentType& type) const {
        const bool is_struct = type.number->is_half() || type.lanes > 1;
        return any_pointer() + (typed_ && !is_struct ? code_of(type) : 0);
    }
    // Types that are not declared are called by their name in configuration.h.
    void add(const Argument& argument) {
        const auto type = type_of(argument, problem_.type);
        const bool is_element = !argument.type && (argument.is_matrix() || argument.kind == Argument::Kind::scalar);
        const auto name = is_element ? "Element" : type.cpp_name();
        if (!argument.is_matrix()) return add(name + " " + argument.name, code_of(type));
        add((argument.kind == Argument::Kind::input ? "const " : "") + name + "* " + argument.name, pointer_to(type));
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

// A check appended to the source, so that the source's lines keep their numbers. Launches pass the parameters of the
// manifest; a kernel with other parameters would read beyond them. The check compares sizes only, and 0 stands for any
// pointer. Its names are unlikely to be macros of the source.
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

// The same for an operation that declares types: integers differ from floating numbers, and so do pointers to them. A
// pointer to void or to a struct (1000) fits any pointer.
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

std::string check_of_parameters(const KernelTemplate& kernel, const Problem& problem, const std::string& entry,
                                bool of_reference) {
    const Signature signature(kernel, problem, of_reference);
    const auto& path = of_reference ? kernel.operation.reference_path : kernel.source_path;
    return "\n#line 1 \"" + path + ": kernel " + entry + " of its manifest\"" +
           (kernel.operation.typed ? check_of_types : check_of_sizes) + entry + ")>::SmemtuneType, SmemtuneSizes<" +
           signature.codes() + ">>, \"by its manifest " + (of_reference ? "the reference" : "the kernel") + " takes (" +
           signature.names() + ")\");\n" + (of_reference ? "" : check_of_symbols(kernel));
}

// Without files of numbers, which no compiler reads.
SourceTree sources_of(const KernelTemplate& kernel_template) {
    SourceTree sources;
    for (const auto& [path, text] : kernel_template.files) {
        if (!is_data_file(path)) sources.emplace_hint(sources.end(), path, text);
    }
    return sources;
}

}  // namespace

Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem) {
    Program program{entry_of(kernel_template, configuration),
                    kernel_template.source_path,
                    sources_of(kernel_template),
                    kernel_template.options,
                    kernel_template.include_folders,
                    kernel_template.source_needs};
    // A condition may stand before the source's own include of configuration.h, or the include inside a condition.
    program.needs.configuration = program.needs.configuration || !kernel_template.macros.empty();
    for (const auto& argument : kernel_template.operation.arguments) {
        if (!argument.symbol.empty()) program.symbols.push_back(argument.symbol);
    }
    program.files["configuration.h"] = render(kernel_template, configuration, problem);
    program.files.at(program.source_path) += check_of_parameters(kernel_template, problem, program.entry, false);
    return program;
}

Program reference_program(const KernelTemplate& kernel_template, const Problem& problem) {
    if (kernel_template.operation.reference.kind == OperationReference::Kind::configuration) {
        return program_of(kernel_template, default_configuration(kernel_template), problem);
    }
    // Options stay out: fast mathematics, for example, must not change the reference.
    Program program{"reference", kernel_template.operation.reference_path, sources_of(kernel_template),
                    {},          kernel_template.include_folders,          kernel_template.reference_needs};
    // The reference may share its source with the kernel, which needs a configuration: the default one.
    program.files["configuration.h"] = render(kernel_template, default_configuration(kernel_template), problem);
    program.files.at(program.source_path) += check_of_parameters(kernel_template, problem, program.entry, true);
    program.on_host = kernel_template.operation.reference.kind == OperationReference::Kind::host;
    return program;
}

std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options) {
    if (device.is_host()) return std::make_unique<HostCompiler>(options);
    return std::make_unique<NvrtcCompiler>(device.compute_capability, options);
}

}  // namespace smemtune
