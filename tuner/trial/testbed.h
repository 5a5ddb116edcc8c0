// A testbed verifies and times candidates of one problem: on inputs, outputs with guard bands, and an FP64 reference.
#pragma once

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
    /// Throws OutOfMemory, as all functions here that run a kernel: operands are allocated when they are needed.
    Testbed(Backend& backend, const Operation& operation, const Problem& problem, const TestbedBinaries& binaries,
            std::uint64_t seed);
    ~Testbed();
    Testbed(const Testbed&) = delete;
    Testbed& operator=(const Testbed&) = delete;

    struct Verdict {
        std::optional<std::string> wrong;  ///< the first thing that is wrong; nothing when all is right
        double first_launch_us = 0;        ///< of the launch on the first check, once and cold
        double worst = 0;                  ///< largest error, as a fraction of what the forward error bound allows
        bool clearly_slower = false;       ///< right on the first check, and too slow to be worth the others
    };
    /// Runs the kernel on each of the operation's checks and compares every element of every output. A kernel whose
    /// first launch takes longer than `slow_us` runs on the first check alone. Throws LaunchError, DeviceFault.
    Verdict verify(const BoundKernel& kernel, std::optional<double> slow_us = std::nullopt);
    /// Runs it on the first check alone, whose operands are like those that kernels are timed on.
    Verdict verify_first_check(const BoundKernel& kernel);

    /// Whether the operands of a launch are in the L2 cache already. Operands that exceed the cache never are.
    enum class Cache {
        cold,  ///< sets of operands rotate that together exceed twice the L2 cache
        warm,  ///< every launch takes the same set
    };
    /// For the batches to come; cold unless this is called.
    void set_cache(Cache cache);
    /// Whether warm differs from cold: whether more than one set rotates.
    [[nodiscard]] bool rotates() const;

    /// `count` launches of `kernel`. The calls point to it, and to operands that live until a kernel is found wrong.
    std::vector<Backend::Call> batch(const BoundKernel& kernel, int count);

private:
    struct State;
    Verdict verify(const BoundKernel& kernel, std::optional<double> slow_us, std::size_t checks);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
