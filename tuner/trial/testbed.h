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

enum class OutputContent;

/// The testbed's own kernels.
struct TestbedBinaries {
    Binary reference, fill, compare;
    Binary prepare{};  ///< empty unless the operation has a program that prepares inputs
    Binary widen{};    ///< empty unless the reference uses a wider type than the problem
};

/// Compiles the testbed's kernels for an operation's element type and layout. Throws CompilerError if one does not
/// compile.
TestbedBinaries compile_testbed(const Compiler& compiler, const KernelTemplate& kernel_template,
                                const Problem& problem);

/// The input of testbed_identity(): the parts of a testbed that do not depend on the operation.
struct TestbedParts {
    std::map<std::string, std::string> kernels;  ///< the sources of the testbed's kernels, by path
    std::string type;                            ///< the element type
    double unit_roundoff = 0;
    int product_terms = 0;  ///< ElementType::product_terms
    int rules = 0;          ///< version of the rules by which operands are made and outputs are compared
    int tolerance = 0;      ///< tolerance_version
    int output_rules = 0;   ///< output_rules_version; 0 if fills_outputs_again() is false
    std::string target;     ///< the GPU architecture of all binaries
    std::string compiler;   ///< the compiler's version
};
TestbedParts testbed_parts(const Operation& operation, const Problem& problem, const Compiler& compiler);
/// Returns the second half of a verification identity: a hash that differs whenever a part differs.
std::string testbed_identity(const TestbedParts& parts);

/// Identifies everything that a kernel of this problem is verified against, as OPERATION/TESTBED: operation_identity(),
/// a slash, and testbed_identity().
std::string verification_identity(const KernelTemplate& kernel_template, const Problem& problem,
                                  const Compiler& compiler);

class Testbed {
public:
    /// Throws OutOfMemory. So does every function below that runs a kernel, because operands are allocated when they
    /// are first needed.
    Testbed(Backend& backend, const Operation& operation, Problem problem, TestbedBinaries binaries,
            std::uint64_t seed);
    ~Testbed();
    Testbed(const Testbed&) = delete;
    Testbed& operator=(const Testbed&) = delete;

    /// Sets the operation's parameters to the values in `configuration` for all later calls. Before the first use(),
    /// the parameters have their defaults. Values of any other parameters in `configuration` are ignored. Throws
    /// ReferenceError. Throws LaunchError if the values give an argument an impossible shape or content.
    void use(const Configuration& configuration);

    struct Verdict {
        std::optional<std::string> wrong;  ///< the first defect; nothing if the outputs are right
        double first_launch_us = 0;        ///< time of the first launch in the first check, with cold caches
        double worst = 0;                  ///< the largest error as a fraction of its bound
    };
    /// Runs the kernel on all checks of the operation and compares every element of every output. Runs the first check
    /// three times if fills_outputs_again(), each time with a different OutputContent. Throws LaunchError, DeviceFault.
    Verdict verify(const BoundKernel& kernel);
    /// As verify(), but runs only the first check, and once. Timed launches use operands of this check.
    Verdict verify_first_check(const BoundKernel& kernel);

    struct BatchVerdict {
        std::optional<std::string> wrong;  ///< the first defect; nothing if the outputs are right
        double batch_us = 0;
        int launches = 0;
    };
    /// Runs a batch of about `launches` launches on rotating operands, as timing does, and compares the final outputs.
    /// This can catch a kernel that is wrong only sometimes, or right only after a pause. Throws LaunchError,
    /// DeviceFault.
    BatchVerdict verify_batch(const BoundKernel& kernel, int launches);

    /// Whether a launch finds its operands in the L2 cache. Operands that exceed the cache are read from device memory
    /// in both modes.
    enum class Cache {
        cold,  ///< launches rotate among rotating_sets() sets of operands
        warm,  ///< every launch uses the same set
    };
    /// Sets the cache mode of later batches; the default is cold.
    void set_cache(Cache cache);
    /// Whether more than one set of operands rotates. With a single set, cold and warm are the same.
    [[nodiscard]] bool rotates() const;

    /// Prepares `count` launches of `kernel`. If arguments must be restored before each launch, this function restores
    /// them in advance, and each launch gets a set of operands of its own. The result then has at most as many launches
    /// as there are sets. `kernel` must outlive the launches. Their operands stay valid until a verification fails.
    std::vector<Backend::Call> batch(const BoundKernel& kernel, int count);

private:
    struct State;
    double verify(const BoundKernel& kernel, std::size_t index, OutputContent content, Verdict& verdict);
    [[nodiscard]] std::unique_ptr<State> make_state(const Operation& operation, Cache cache) const;

    Backend& backend_;
    Problem problem_;
    TestbedBinaries binaries_;
    std::uint64_t seed_;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<State>> others_;  // testbed states for other values of the operation's parameters
};

}  // namespace smemtune
