// Competitors of our winners: the kernels of a different database, cuBLAS and cublasLt.
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
    /// Calls the kernel as an application does: on the default stream, with the operation's arguments.
    std::function<void(std::span<void* const>)> call;
    std::string match{};  ///< of a served kernel (Match), such as `predicted`
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
    /// A library's version, or a database's name.
    [[nodiscard]] virtual std::string version() const = 0;
    /// Chooses a kernel on the testbed of this problem, with the testbed's current cache setting. Throws DeviceFault,
    /// DeviceError.
    [[nodiscard]] virtual CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                           Testbed& testbed) = 0;
};

/// The kernel that the database behind `runtime` has for exactly this problem; winners of other sizes do not count.
/// With `kernel_template`, the best kernel of that template. `runtime` must outlive the result.
CompetitorKernelOrReason stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// The kernel that a fetch of this problem serves, whatever its match.
CompetitorKernelOrReason served_kernel(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// The winners of a different database, on the device of `runtime`. Throws StoreError.
std::unique_ptr<Competitor> database_competitor(const Runtime& runtime, const std::filesystem::path& database);

/// `cublas`: the library chooses its kernel at each call.
std::unique_ptr<Competitor> cublas_competitor(const Cublas& library);

/// `cublaslt`: times at most `most` proposals of its heuristic on `backend` and uses the fastest one that is right; if
/// all are wrong, the fastest one.
std::unique_ptr<Competitor> cublaslt_competitor(const Cublas& library, Backend& backend, int most);

}  // namespace smemtune
