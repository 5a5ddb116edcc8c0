// The kernels that our winners are compared with: those of another database, cuBLAS and cublasLt.
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

/// A template with its configuration, or an algorithm of a library, which has no configuration.
struct KernelDescription {
    std::string name;
    std::optional<Configuration> configuration{};
};

/// A kernel that computes one problem.
struct CompetitorKernel {
    KernelDescription description;
    std::shared_ptr<const BoundKernel> kernel;
    /// Calls it as an application does, on the default stream, with the operation's arguments.
    std::function<void(std::span<void* const>)> call;
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
    /// The version of a library; the name of a database.
    [[nodiscard]] virtual std::string version() const = 0;
    /// Chooses a kernel on the testbed of this problem, for the L2 cache as it is set there. Throws DeviceFault,
    /// DeviceError.
    [[nodiscard]] virtual CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                           Testbed& testbed) = 0;
};

/// The kernel that the database behind `runtime` holds for exactly this problem; with `kernel_template`, the best of
/// that template. A winner of another size does not count. `runtime` must outlive the result.
CompetitorKernelOrReason stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// The winners of another database, on the device of `runtime`. Throws StoreError.
std::unique_ptr<Competitor> database_competitor(const Runtime& runtime, const std::filesystem::path& database);

/// `cublas`: the kernel that the library chooses at each call.
std::unique_ptr<Competitor> cublas_competitor(const Cublas& library);

/// `cublaslt`: of at most `most` proposals of its heuristic, each timed on `backend`, the fastest that is right; if all
/// are wrong, the fastest.
std::unique_ptr<Competitor> cublaslt_competitor(const Cublas& library, Backend& backend, int most);

}  // namespace smemtune
