// Computes what the outputs of a set of operands should be.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// The reference of an output: FP64 values, and for each the sum of the absolute values of its terms. The error bound
/// is relative to that sum. An output of integers has values of its own type; with a tolerance there are no sums.
struct OutputReference {
    std::unique_ptr<Memory> value;      ///< null: the operation has no reference
    std::unique_ptr<Memory> magnitude;  ///< null: Argument::has_magnitude is false
};

/// A reference cannot be computed, or is none. No candidate is at fault.
class ReferenceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class ReferenceSource {
public:
    virtual ~ReferenceSource() = default;
    /// Fills `results`, one for each output in the order of the arguments. Throws OutOfMemory, ReferenceError.
    virtual void compute(const Operands& operands, const std::vector<OutputReference>& results) = 0;
};

/// The problem whose reference_program() computes the reference of `problem`. Kernels and functions see elements of a
/// narrow type as numbers of its wide type, which has them all.
Problem reference_problem(const Operation& operation, const Problem& problem);

/// `binary`: of reference_program() for reference_problem(), if the reference has one. `widen`:
/// typed/kernels/widen.cu, needed where reference_problem() has another type. Null for an operation without a
/// reference, or with a verifier. All arguments but the binaries must outlive the result. Throws OutOfMemory,
/// LaunchError.
std::unique_ptr<ReferenceSource> make_reference_source(Backend& backend, const Operation& operation,
                                                       const Environment& environment, const Problem& problem,
                                                       const Binary& binary, const Binary& widen);

}  // namespace smemtune
