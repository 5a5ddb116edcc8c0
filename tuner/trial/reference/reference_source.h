// Computes what the outputs of a set of operands should be.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// The reference of an output. For each element it has an FP64 value and a magnitude: the sum of the absolute values of
/// the element's terms. The error bound is relative to the magnitude. An output of integers has values of its own type
/// and no magnitudes. An output with an absolute or relative tolerance has no magnitudes either.
struct OutputReference {
    std::unique_ptr<Memory> value;      ///< null if the operation has no reference
    std::unique_ptr<Memory> magnitude;  ///< null if Argument::has_magnitude() is false
};

/// Before a reference is computed, the floating-point numbers of its results that check_references() examines have
/// these bits: a NaN that no computation gives.
inline constexpr std::uint64_t unwritten_bits = 0xfffb'5a5a'a5a5'c3c3;

/// A reference cannot be computed, or its result is unusable. The cause is never the candidate.
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

/// Names a problem, and the user's code that computes its inputs and reference outputs, in a message about their time:
/// `scale f32 64: computing inputs and reference outputs (the kernel 'reference' of scale.cu)`.
std::string preparation_text(const Operation& operation, const Problem& problem);

/// Returns the problem for which reference_program() is compiled when it computes the reference of `problem`. This is
/// `problem` itself, with one exception. If the element type is narrow and the reference is a kernel or C++ function,
/// the type is the wide type, which holds all numbers of the narrow type.
Problem reference_problem(const Operation& operation, const Problem& problem);

/// Returns null if the operation has no reference, or if its own code decides whether outputs are right
/// (OperationReference::is_verifier()). If OperationReference::has_program() is true,
/// `binary` is the compiled reference_program() for reference_problem(). If the type of reference_problem() differs
/// from the type of `problem`, `widen` is the binary of typed/kernels/widen.cu. All arguments except the binaries must
/// outlive the result. Throws OutOfMemory, LaunchError.
std::unique_ptr<ReferenceSource> make_reference_source(Backend& backend, const Operation& operation,
                                                       const Environment& environment, const Problem& problem,
                                                       const Binary& binary, const Binary& widen);

}  // namespace smemtune
