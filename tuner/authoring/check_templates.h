// Compiles and judges what a tuning run would, for every value of every parameter, without running anything.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// One thing that is wrong with a template, or may be.
struct Finding {
    bool is_error = false;  ///< a tuning run would fail, or reject this configuration
    std::string where;      ///< a configuration, "reference", or a parameter
    std::string what;       ///< with what to do
};

struct TemplateCheck {
    std::string name;
    std::size_t compiled = 0;  ///< programs
    std::vector<Finding> findings;

    [[nodiscard]] bool failed() const;
};

/// Configurations in which each value of each parameter that any valid configuration has occurs. They differ from the
/// default configuration, or the first valid one, in one value where such a configuration is valid.
std::vector<Configuration> covering(const KernelTemplate& kernel, const ParameterSpace& space);

/// Checks the template for one problem: reference, every value once, limits with the compiler's registers, spills, and
/// parameters whose values all compile to the same code. Throws CompilerError.
TemplateCheck check_template(const KernelTemplate& kernel, const Problem& problem, const Device& device,
                             const Compiler& compiler, std::size_t threads);

}  // namespace smemtune
