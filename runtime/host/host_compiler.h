// Compiles kernels for the CPU into shared objects, with the system's C++ compiler and cuda_on_cpu.h.
#pragma once

#include <mutex>
#include <string>

#include "runtime/compiler.h"

namespace smemtune {

class HostCompiler : public Compiler {
public:
    explicit HostCompiler(CompilerOptions options) : options_(std::move(options)) {}

    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override;
    [[nodiscard]] std::string target() const override;
    [[nodiscard]] std::string version() const override;

private:
    [[nodiscard]] std::variant<Binary, Rejection> compile_function(const Program& program) const;

    CompilerOptions options_;
    mutable std::once_flag asked_;
    mutable std::string version_;
};

}  // namespace smemtune
