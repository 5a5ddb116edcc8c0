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

/// Computes references and compares outputs with them on the device. All arguments of the constructor must outlive the
/// object.
class OutputComparison {
public:
    /// `reference` is the binary of reference_program(). `compare` is the binary of kernels/compare.cu or, if
    /// is_typed() is true for the operation, of typed/kernels/compare.cu. `widen` is as in make_reference_source().
    /// Throws OutOfMemory, LaunchError.
    OutputComparison(Backend& backend, const Operation& operation, const Problem& problem,
                     const Environment& environment, const Binary& reference, const Binary& compare,
                     const Binary& widen);

    /// Computes one reference for each output. If the user's own `verify` judges the outputs, returns
    /// Verifier::before() instead. Throws OutOfMemory, ReferenceError.
    std::vector<OutputReference> references(const Operands& operands);

    /// Examines up to 262,144 elements of each reference, the last ones among them. Throws ReferenceError if the
    /// reference, a kernel or a C++ function, did not write one. With `magnitudes`, also throws if a magnitude is
    /// negative, infinite or NaN although its value is finite. The error bound of that element would have no meaning:
    /// with an infinite magnitude, any result would be right.
    void check_references(const Operands& operands, const std::vector<OutputReference>& references, bool magnitudes);

    /// Describes what is wrong with the outputs; returns nothing if they are right. An output is wrong if an element
    /// differs from its reference by more than its bound (tolerance.h), if the kernel wrote outside the matrices, or if
    /// the errors are too large on average. The bound is 0 for integer inputs, except for outputs of 16 bits (see
    /// TypedComparison). Where the reference is an infinity, the output must be the same infinity. Where the reference
    /// is a NaN, the output must be a NaN. For a typed operation, a NaN in the reference is an error unless the
    /// argument's tolerance or the check allows NaNs. Raises `worst` to the largest error, as a fraction of its bound,
    /// if `worst` is smaller.
    std::optional<std::string> first_difference(const Operands& operands,
                                                const std::vector<OutputReference>& references, const Check& check,
                                                double& worst);

private:
    // One block's report.
    struct Errors {
        double worst = 0;               // the largest (error / bound)^2 of an element
        double errors = 0, scales = 0;  // the sum of all error^2, and the sum of all s^2 (s: see tolerance.h)
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
    std::unique_ptr<ReferenceSource> reference_;  // null if the operation has no reference
    bool may_leave_out_;                          // whether the reference is code that itself writes the elements
    std::optional<Verifier> verifier_;            // the user's `verify`, which replaces a reference
    std::unique_ptr<LoadedKernel> compare_;
    std::unique_ptr<Memory> first_wrong_, errors_;  // each block's report
    std::optional<TypedComparison> typed_;
};

}  // namespace smemtune
