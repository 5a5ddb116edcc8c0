// Whom our winners are compared with.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "runtime/cublas/cublas.h"
#include "runtime/runtime.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

/// What computes one problem, as a kernel that takes the operation's arguments and knows its own launch.
struct CompetitorKernel {
    std::string detail;  ///< algorithm, or template and configuration
    std::shared_ptr<const LoadedKernel> kernel;
    std::function<void(void* const* arguments)> call;  ///< as an application calls it, on the default stream
};

/// A contender, or why there is none.
using Entry = std::variant<CompetitorKernel, std::string>;

class Competitor {
public:
    virtual ~Competitor() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    /// Of a library; a database has none but its name.
    [[nodiscard]] virtual std::string version() const = 0;
    /// Chosen on the testbed of this problem, for the L2 cache as it is set there. Throws DeviceFault, DeviceError.
    [[nodiscard]] virtual Entry enter(const Operation& operation, const Problem& problem, Testbed& testbed) = 0;
};

/// What the database behind `runtime` holds for exactly this problem; with `kernel_template`, the best of that one.
/// What was tuned for another size is no answer. `runtime` must outlive what is returned.
Entry stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template);

/// The winners of another database, on the device of `runtime`. Throws StoreError.
std::unique_ptr<Competitor> database_peer(const Runtime& runtime, const std::filesystem::path& database);

/// `cublas`: as it chooses by itself.
std::unique_ptr<Competitor> cublas_peer(const Cublas& library);

/// `cublaslt`: of at most `most` proposals of its heuristic, each timed on `backend`, the fastest that is right; where
/// none is, the fastest.
std::unique_ptr<Competitor> cublaslt_peer(const Cublas& library, Backend& backend, int most);

}  // namespace smemtune
