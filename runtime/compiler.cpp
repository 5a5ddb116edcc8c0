#include "runtime/compiler.h"

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"

namespace smemtune {

Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem) {
    Program program{kernel_template.name, kernel_template.source_path, kernel_template.files};
    program.files["configuration.h"] = render(kernel_template, configuration, problem);
    return program;
}

Program reference_program(const KernelTemplate& kernel_template, const Problem& problem) {
    Program program{"reference", kernel_template.operation.reference_path, kernel_template.files};
    // With the defaults: the reference may stand in the same source as the kernel.
    program.files["configuration.h"] = render(kernel_template, default_configuration(kernel_template), problem);
    return program;
}

std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options) {
    if (device.is_host()) return std::make_unique<HostCompiler>(options);
    return std::make_unique<NvrtcCompiler>(device.compute_capability, options);
}

}  // namespace smemtune
