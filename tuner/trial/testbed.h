// A testbed verifies and times candidates of one problem. It has inputs, outputs with guard bands, and an FP64
// reference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/compiler.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The testbed's own kernels.
struct TestbedBinaries {
    Binary reference, fill, compare;
    Binary prepare{};  ///< of an operation with Operation::prepare_path
    Binary widen{};    ///< empty where the reference sees the problem's own type
};

/// Compiles the testbed's kernels for an operation's element type and layout. Throws CompilerError if one does not
/// compile.
TestbedBinaries compile_testbed(const Compiler& compiler, const KernelTemplate& kernel_template,
                                const Problem& problem);

/// The testbed's part of a verification identity, which does not depend on the operation.
struct TestbedParts {
    std::map<std::string, std::string> kernels;  ///< the sources of the testbed's kernels, by path
    std::string type;                            ///< of the elements
    double unit_roundoff = 0;
    int product_terms = 0;  ///< ElementType::product_terms
    int rules = 0;          ///< version of how operands are made and outputs compared
    int tolerance = 0;      ///< tolerance_version
    std::string target;     ///< of the compiler, which also compiles the kernel
    std::string compiler;   ///< its version
};
TestbedParts testbed_parts(const Operation& operation, const Problem& problem, const Compiler& compiler);
/// The second half of a verification identity. It differs whenever a part differs.
std::string testbed_identity(const TestbedParts& parts);

/// Identifies everything that a kernel of this problem is verified against, as OPERATION/TESTBED: operation_identity()
/// and testbed_identity().
std::string verification_identity(const KernelTemplate& kernel_template, const Problem& problem,
                                  const Compiler& compiler);

class Testbed {
public:
    /// Throws OutOfMemory, as do all functions below that run a kernel: operands are allocated when first needed.
    Testbed(Backend& backend, const Operation& operation, Problem problem, TestbedBinaries binaries,
            std::uint64_t seed);
    ~Testbed();
    Testbed(const Testbed&) = delete;
    Testbed& operator=(const Testbed&) = delete;

    /// The values of the operation's parameters for what follows; the defaults at first. Other names are ignored.
    /// Throws ReferenceError; LaunchError if a shape or value makes no sense with them.
    void use(const Configuration& configuration);

    struct Verdict {
        std::optional<std::string> wrong;  ///< the first defect; nothing if all is right
        double first_launch_us = 0;        ///< first launch on the first check, cold
        double worst = 0;                  ///< largest error, as a fraction of what the forward error bound allows
    };
    /// Runs the kernel on all checks of the operation and compares every element of every output. Throws LaunchError,
    /// DeviceFault.
    Verdict verify(const BoundKernel& kernel);
    /// The same in two parts. The operands of the first check have the form of those used for timing.
    Verdict verify_first_check(const BoundKernel& kernel);
    Verdict verify_other_checks(const BoundKernel& kernel);

    struct BatchVerdict {
        std::optional<std::string> wrong;  ///< the first defect; nothing if all is right
        double batch_us = 0;
        int launches = 0;
    };
    /// Runs a batch of about `launches` launches as timing does, on rotating operands, and compares the outputs that it
    /// leaves. This can catch a kernel that is wrong only sometimes, or right only after a pause. Throws LaunchError,
    /// DeviceFault.
    BatchVerdict verify_batch(const BoundKernel& kernel, int launches);

    /// Whether a launch finds its operands in the L2 cache. Operands larger than the cache are never in it.
    enum class Cache {
        cold,  ///< operand sets rotate; together they exceed twice the L2 cache
        warm,  ///< every launch takes the same set
    };
    /// Sets the cache mode of later batches; the default is cold.
    void set_cache(Cache cache);
    /// Whether warm and cold differ: whether more than one set of operands rotates.
    [[nodiscard]] bool rotates() const;

    /// At most `count` launches of `kernel`: fewer if arguments are restored before each launch, because each takes a
    /// set of operands of its own then, restored here. `kernel` must outlive the calls. Their operands stay valid until
    /// a verification fails.
    std::vector<Backend::Call> batch(const BoundKernel& kernel, int count);

private:
    struct State;
    Verdict verify(const BoundKernel& kernel, std::size_t begin, std::size_t end);
    [[nodiscard]] std::unique_ptr<State> make_state(const Operation& operation, Cache cache) const;

    Backend& backend_;
    Problem problem_;
    TestbedBinaries binaries_;
    std::uint64_t seed_;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<State>> others_;  // for other values of the operation's parameters
};

}  // namespace smemtune
