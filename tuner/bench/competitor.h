// Competitors of our winners: kernels of another database, cuBLAS and cublasLt.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "runtime/cublas/cublas.h"
#include "runtime/runtime.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

/// Describes a kernel: a template with its configuration, or a library's algorithm, which has no configuration.
struct KernelDescription {
    std::string name;
    std::optional<Configuration> configuration{};
};

/// A kernel that computes one problem.
struct CompetitorKernel {
    KernelDescription description;
    std::shared_ptr<const BoundKernel> kernel;
    /// Calls the kernel as an application would: on the default stream, with the operation's arguments.
    std::function<void(std::span<void* const>)> call;
    std::string match{};  ///< the Match of a kernel that a fetch returned, such as `predicted`
};

/// Why a competitor has no kernel for a problem.
struct Unavailable {
    std::string reason;
};
using CompetitorKernelOrReason = std::variant<CompetitorKernel, Unavailable>;

class Competitor {
public:
    virtual ~Competitor() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    /// Returns the version of a library, or the name of a database.
    [[nodiscard]] virtual std::string version() const = 0;
    /// Chooses a kernel for the problem. May time kernels on the testbed, with its current cache setting. Throws
    /// DeviceFault, DeviceError.
    [[nodiscard]] virtual CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                           Testbed& testbed) = 0;
};

/// Returns the winner that the database of `runtime` has for exactly this problem, never a winner of another size. If
/// `kernel_template` is not empty, returns the best kernel of that template. `runtime` must outlive the result.
CompetitorKernelOrReason stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// Returns the kernel that a fetch of this problem returns, whatever its match. `runtime` must outlive the result.
CompetitorKernelOrReason served_kernel(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// Returns the winners of another database as a competitor, on the device of `runtime`. Throws StoreError.
std::unique_ptr<Competitor> database_competitor(const Runtime& runtime, const std::filesystem::path& database);

/// Returns cuBLAS as a competitor. It chooses its kernel at each call.
std::unique_ptr<Competitor> cublas_competitor(const Cublas& library);

/// Returns cublasLt as a competitor. It times at most `most` proposals of its heuristic on `backend`, and uses the
/// fastest one with a right result. If all are wrong, it uses the fastest one.
std::unique_ptr<Competitor> cublaslt_competitor(const Cublas& library, Backend& backend, int most);

}  // namespace smemtune
