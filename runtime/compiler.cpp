#include "runtime/compiler.h"

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"

namespace smemtune {

namespace {

// A check appended to the source, so that the source's lines keep their numbers. Launches pass the parameters of the
// manifest; a kernel with other parameters would read beyond them. The check compares sizes only, and 0 stands for any
// pointer. Its names are unlikely to be macros of the source.
std::string check_of_parameters(const KernelTemplate& kernel, const Problem& problem, bool of_reference) {
    std::string sizes;
    std::string names;
    const auto add = [&](const std::string& name, std::int64_t size) {
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
        names += (names.empty() ? "" : ", ") + name;
    };
    for (const auto& argument : kernel.operation.arguments) {
        switch (argument.kind) {
            case Argument::Kind::extent: add("int " + argument.name, sizeof(int)); break;
            case Argument::Kind::stride:
            case Argument::Kind::batch_stride: add("long long " + argument.name, sizeof(long long)); break;
            case Argument::Kind::scalar: add("Element " + argument.name, element_type(problem.type).bytes); break;
            case Argument::Kind::input: add("const Element* " + argument.name, 0); break;
            case Argument::Kind::output: add("Element* " + argument.name, 0); break;
        }
    }
    if (of_reference) {
        for (const auto& argument : kernel.operation.arguments) {
            if (argument.kind != Argument::Kind::output) continue;
            add("double* value of " + argument.name, 0);
            add("double* magnitude of " + argument.name, 0);
        }
    } else {
        for (const auto& parameter : kernel.parameters) {
            if (parameter.runtime) add("int " + parameter.name, sizeof(int));
        }
        if (kernel.workspace_bytes) add("the address of its workspace", 0);
    }
    const std::string entry = of_reference ? "reference" : kernel.name;
    const auto& path = of_reference ? kernel.operation.reference_path : kernel.source_path;
    return "\n#line 1 \"" + path + ": kernel " + entry + " of its manifest\"" +
           R"(
template <class SmemtuneT> constexpr int smemtune_size = sizeof(SmemtuneT);
template <class SmemtuneT> constexpr int smemtune_size<SmemtuneT*> = 0;
template <int...> struct SmemtuneSizes {};
template <class> struct SmemtuneOf;
template <class... SmemtuneT> struct SmemtuneOf<void (*)(SmemtuneT...)> {
    using SmemtuneType = SmemtuneSizes<smemtune_size<SmemtuneT>...>;
};
template <class, class> constexpr bool smemtune_same = false;
template <class SmemtuneT> constexpr bool smemtune_same<SmemtuneT, SmemtuneT> = true;
static_assert(smemtune_same<SmemtuneOf<decltype(&)" +
           entry + ")>::SmemtuneType, SmemtuneSizes<" + sizes + ">>, \"by its manifest " +
           (of_reference ? "the reference" : "the kernel") + " takes (" + names + ")\");\n";
}

}  // namespace

Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem) {
    Program program{kernel_template.name, kernel_template.source_path, kernel_template.files};
    program.files["configuration.h"] = render(kernel_template, configuration, problem);
    program.files.at(program.source_path) += check_of_parameters(kernel_template, problem, false);
    return program;
}

Program reference_program(const KernelTemplate& kernel_template, const Problem& problem) {
    Program program{"reference", kernel_template.operation.reference_path, kernel_template.files};
    // The program holds a configuration with the defaults, because the reference may share its source with the kernel.
    program.files["configuration.h"] = render(kernel_template, default_configuration(kernel_template), problem);
    program.files.at(program.source_path) += check_of_parameters(kernel_template, problem, true);
    return program;
}

std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options) {
    if (device.is_host()) return std::make_unique<HostCompiler>(options);
    return std::make_unique<NvrtcCompiler>(device.compute_capability, options);
}

}  // namespace smemtune
