// Checks a template without launching a kernel: compiles configurations that together have every value of every
// parameter.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// An error in a template, or a warning about it.
struct Finding {
    bool is_error = false;  ///< whether a tuning run would fail, or would reject this configuration
    /// What the finding is about, such as a configuration, a parameter, or the program "reference".
    std::string where;
    std::string what;  ///< what is wrong, often with what to do
};

struct TemplateCheck {
    std::string name;
    std::size_t compiled = 0;  ///< the number of programs that were compiled
    std::vector<Finding> findings;

    [[nodiscard]] bool failed() const;
};

/// Returns valid configurations that together have every parameter value that occurs in `space`. Where possible, each
/// differs in one value from the default configuration. If the default is not valid, the first valid configuration
/// replaces it.
std::vector<Configuration> covering(const KernelTemplate& kernel, const ParameterSpace& space);

/// Checks the template for one problem. Compiles the reference, the program that prepares inputs, and the
/// configurations of covering(). Reports a negative `terms`, arguments whose shape or values are not possible at this
/// size, failed compiles, exceeded limits, spills, a missing reference, values that no valid configuration has,
/// parameters whose values all compile to the same code, and arguments that the kernel or the reference declares in
/// another order. Throws CompilerError.
TemplateCheck check_template(const KernelTemplate& kernel, const Problem& problem, const Device& device,
                             const Compiler& compiler, std::size_t threads);

}  // namespace smemtune
