// Decides whether a kernel's outputs are right: compares every element with an FP64 reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/reference/verifier.h"
#include "tuner/trial/tolerance.h"
#include "tuner/trial/typed/typed_comparison.h"

namespace smemtune {

/// Computes references and compares outputs with them on the device. All arguments must outlive it.
class OutputComparison {
public:
    /// `reference`: of reference_program(). `compare` is kernels/compare.cu; for a typed operation,
    /// typed/kernels/compare.cu. `widen`: as in make_reference_source(). Throws OutOfMemory, LaunchError.
    OutputComparison(Backend& backend, const Operation& operation, const Problem& problem,
                     const Environment& environment, const Binary& reference, const Binary& compare,
                     const Binary& widen);

    /// The references of these inputs, one for each output; what a verifier needs, for an operation with one. Throws
    /// OutOfMemory, ReferenceError.
    std::vector<OutputReference> references(const Operands& operands);

    /// Describes the first element that differs from its reference by more than its bound (tolerance.h), or the first
    /// write outside the matrices, or errors that are too large on average; nothing if all is right. The bound is 0 for
    /// integer inputs; infinities and NaNs must be those of the reference. Raises `worst` to the largest error as a
    /// fraction of its bound.
    std::optional<std::string> first_difference(const Operands& operands,
                                                const std::vector<OutputReference>& references, const Check& check,
                                                double& worst);

private:
    // One thread's report.
    struct Errors {
        double worst = 0;               // as a fraction of the bound of an element, squared
        double errors = 0, scales = 0;  // sums of squares
    };
    [[nodiscard]] double bound_of(const Check& check, double value, double magnitude) const;
    std::optional<std::string> imprecise(const std::vector<Errors>& reports, const std::string& output,
                                         double& worst) const;
    std::string describe(const MatrixOperand& matrix, long long at, const OutputReference& expected,
                         const Check& check);

    Backend& backend_;
    double unit_roundoff_;
    std::int64_t terms_;
    std::int64_t blocks_;
    std::unique_ptr<ReferenceSource> reference_;  // null: the operation has none
    std::optional<Verifier> verifier_;            // judges in place of a reference
    std::unique_ptr<LoadedKernel> compare_;
    std::unique_ptr<Memory> first_wrong_, errors_;  // each thread's report
    std::optional<TypedComparison> typed_;
};

}  // namespace smemtune
