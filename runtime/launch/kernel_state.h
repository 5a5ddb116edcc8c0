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
    GemmArguments extents;        ///< the extents
    GemmShapes shapes;            ///< of the stored matrices
    bool skips_products = false;  ///< the operation is verified with K = 0
};

/// An argument whose value a fetch fixes. Every launch of the kernel must pass this value.
struct FetchedExtent {
    std::size_t position = 0;  ///< among the arguments
    std::string name;
    std::int64_t value = 0;
    bool may_be_zero = false;  ///< the operation is verified with 0, too
    bool is_wide = false;      ///< an argument of 8 bytes, not of 4
};

struct Kernel::State {
    Choice choice;
    Problem problem;
    std::shared_ptr<const Operation> operation;  // kernels of one template share it
    std::shared_ptr<Backend> backend;            // must outlive `kernel`
    ConfiguredKernel kernel;
    std::optional<PreparedGemm> gemm;         // nothing for other operations
    std::vector<FetchedExtent> extents;       // for operations other than products: those check theirs by `gemm`
    std::shared_ptr<FirstCalls> first_calls;  // null: `kernel` alone is launched

    /// The state of the kernel that launches run now.
    [[nodiscard]] const State& current() const;
    void enqueue(StreamHandle stream, std::span<void* const> arguments) const;
    /// `arguments` must have the extents of `gemm`. May change `arguments`.
    void launch_gemm(StreamHandle stream, GemmArguments& arguments) const;
};

/// The extents among the arguments of `operation`. `problem` is one of this operation.
std::vector<FetchedExtent> fetched_extents(const Operation& operation, const Problem& problem);

/// Nothing if `operation` is no matrix product. `problem` is one of this operation.
inline std::optional<PreparedGemm> prepared_gemm(const Operation& operation, const Problem& problem) {
    const auto kind = gemm_kind(operation);
    if (!kind) return std::nullopt;
    PreparedGemm gemm{.kind = *kind,
                      .extents = gemm_extents(problem, *kind),
                      .skips_products = is_verified_without_products(operation)};
    // A user's own gemm may have no layouts: nothing is transposed then.
    const auto layout = operation.layouts.find(problem.layout);
    const bool known = layout != operation.layouts.end();
    gemm.shapes = stored_shapes(gemm.extents, known && layout->second.at("TRANSPOSE_A") != 0,
                                known && layout->second.at("TRANSPOSE_B") != 0);
    return gemm;
}

}  // namespace smemtune
