// The state of a Kernel: everything that a launch needs, prepared when the kernel is fetched.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/configured_kernel.h"
#include "runtime/cublas/gemm_arguments.h"
#include "runtime/fetch/zero_extents.h"
#include "runtime/runtime.h"

namespace smemtune {

class FirstCalls;

/// The values that all launches of a matrix product share.
struct PreparedGemm {
    GemmKind kind = GemmKind::single;
    GemmArguments extents;        ///< only the extents are set
    GemmShapes shapes;            ///< shapes of the matrices as stored
    bool skips_products = false;  ///< whether launches with K = 0 or alpha = 0 skip the products (zero_extents.h)
};

/// An extent among the arguments. Every launch of the kernel must pass the value that the kernel was fetched for, or 0
/// if `may_be_zero` is true.
struct FetchedExtent {
    std::size_t position = 0;  ///< index among the arguments
    std::string name;
    std::int64_t value = 0;
    bool may_be_zero = false;  ///< whether a launch may pass 0; true only if a check of the operation verifies this
    bool is_wide = false;      ///< whether the argument has 8 bytes instead of 4
};

struct Kernel::State {
    Choice choice;
    Problem problem;
    std::shared_ptr<const Operation> operation;  // shared by all kernels of the template
    std::shared_ptr<Backend> backend;            // must outlive `kernel`
    ConfiguredKernel kernel;
    std::optional<PreparedGemm> gemm;         // only for matrix products
    std::vector<FetchedExtent> extents;       // empty if `gemm` is set: launches then check gemm->extents
    std::shared_ptr<FirstCalls> first_calls;  // null if no other kernels are timed

    /// Returns the state of the kernel that `first_calls` has chosen; this state if there is no such choice yet.
    [[nodiscard]] const State& current() const;
    void enqueue(StreamHandle stream, std::span<void* const> arguments) const;
    /// Launches a matrix product. `arguments` must have the extents of `gemm`; the function may change `arguments`.
    void launch_gemm(StreamHandle stream, GemmArguments& arguments) const;
};

/// Returns the extents among the arguments of `operation`, with their values in `problem`.
std::vector<FetchedExtent> fetched_extents(const Operation& operation, const Problem& problem);

/// Returns nullopt if `operation` is not a matrix product. `problem` must be a problem of `operation`.
inline std::optional<PreparedGemm> prepared_gemm(const Operation& operation, const Problem& problem) {
    const auto kind = gemm_kind(operation);
    if (!kind) return std::nullopt;
    PreparedGemm gemm{.kind = *kind,
                      .extents = gemm_extents(problem, *kind),
                      .skips_products = is_verified_without_products(operation)};
    // A user's own gemm may have no layouts. Then neither A nor B is transposed.
    const auto layout = operation.layouts.find(problem.layout);
    const bool known = layout != operation.layouts.end();
    gemm.shapes = stored_shapes(gemm.extents, known && layout->second.at("TRANSPOSE_A") != 0,
                                known && layout->second.at("TRANSPOSE_B") != 0);
    return gemm;
}

}  // namespace smemtune
