// What candidates for one problem are tried on: inputs, outputs with guard bands, and the FP64 reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/compiler.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The kernels that a testbed runs itself.
struct TestbedBinaries {
    Binary reference, fill, compare;
};

/// Compiles them for an operation's element type and layout. Throws CompilerError when one does not compile.
TestbedBinaries compile_testbed(const Compiler& compiler, const KernelTemplate& kernel_template,
                                const Problem& problem);

class Testbed {
public:
    /// Throws OutOfMemory, like everything that runs a kernel here: operands are laid out when they are needed.
    Testbed(Backend& backend, const Operation& operation, const Problem& problem, const TestbedBinaries& binaries,
            std::uint64_t seed);
    ~Testbed();
    Testbed(const Testbed&) = delete;
    Testbed& operator=(const Testbed&) = delete;

    struct Verdict {
        std::optional<std::string> wrong;  ///< what is wrong first; nothing when all is right
        double first_launch_us = 0;        ///< of the launch on the first check, once and cold
        double worst = 0;                  ///< largest error, as a fraction of what the forward error bound allows
        bool hopeless = false;             ///< too slow to be worth the other checks: right on the first one
    };
    /// Runs the kernel on each of the operation's checks and looks at every element of every output; on the first
    /// of them only when a launch takes longer than `hopeless_us`. Throws LaunchError, DeviceFault.
    Verdict verify(const LoadedKernel& kernel, const Launch& launch, double hopeless_us = HUGE_VAL);

    /// Whether the operands of a launch are in the L2 cache already. A set of them that exceeds it never is.
    enum class Cache {
        cold,  ///< sets of operands rotate that together exceed twice the L2 cache
        warm,  ///< every launch takes the same set
    };
    /// Of the batches to come; cold unless this is called.
    void set_cache(Cache cache);
    /// Whether warm differs from cold: whether more than one set rotates.
    [[nodiscard]] bool rotates() const;

    /// `count` launches over such sets.
    std::vector<Backend::Call> batch(const LoadedKernel& kernel, const Launch& launch, int count);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// gamma_n = n*u / (1 - n*u): n rounded operations change a sum of products by at most gamma_n times the sum of their
/// absolute values, in whatever order they are added (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 3.1). Infinite from n*u = 1 on.
double error_factor(std::int64_t terms, double unit_roundoff);

}  // namespace smemtune
