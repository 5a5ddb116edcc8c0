// NVRTC compiles a program in memory to machine code (cubin, never PTX). The library is loaded at the first compile.
// Compiling needs no GPU.
#pragma once

#include "runtime/compiler.h"
#include "runtime/host/host_compiler.h"

namespace smemtune {

class NvrtcCompiler : public Compiler {
public:
    NvrtcCompiler(std::int64_t compute_capability, const CompilerOptions& options);

    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override;
    [[nodiscard]] std::string target() const override { return target_; }
    [[nodiscard]] std::string version() const override;

private:
    [[nodiscard]] std::vector<std::string> options_of(const Program& program) const;

    std::string target_;
    std::chrono::seconds time_limit_;
    std::vector<std::string> toolkits_;
    HostCompiler host_;
};

/// The name that kernel `entry` has in a cubin: `entry` itself, or its mangled name. Empty if the cubin has no kernel
/// of this name, or several.
std::string mangled_name(const std::vector<std::uint8_t>& cubin, const std::string& entry);

/// Whether a cubin's only kernel has the code that waits for the previous kernel of its stream
/// (templates/kernels/device/dependent_launch.h). The kernel may then be started while the previous kernel still runs.
/// False if the cubin has several kernels or functions.
bool waits_for_previous_kernel(const std::vector<std::uint8_t>& cubin);

/// Returns ptxas's warning (C7508 to C7519) that it serializes wgmma instructions or ignores a setmaxnreg instruction.
/// Such code can be several times slower. Empty if ptxas gave no such warning.
std::string ptxas_complaint(const std::string& log);

/// Parses the registers, spills and static shared memory of kernel `entry` from the output of ptxas -v.
Resources parse_ptxas_report(const std::string& log, const std::string& entry);

}  // namespace smemtune
