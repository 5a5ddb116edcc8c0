// What an array of a typed operation (is_typed() in tuner/trial/operands.h) holds before a launch.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backend.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct MatrixOperand;
enum class OutputContent;

/// How fill.cu computes an element. The enumerators have the same numbers as the constants of fill.cu.
struct TypedFill {
    enum Mode : int {
        poisoned = 0,
        uniform = 1,
        integers = 2,
        normal = 3,
        sorted = 4,
        permutation = 5,
        special = 6,
        copied = 7
    };
    int mode = uniform;
    double first = -1, second = 1;
};

/// Returns how to fill an argument. An output that the kernel does not read is poisoned: filled with NaNs or random
/// integers. Values in the manifest take precedence over those of the check. Throws ExpressionError.
TypedFill fill_of(const MatrixOperand& matrix, const Check& check, const Environment& environment, std::int64_t terms);

/// Returns how to fill an output that the kernel does not read.
TypedFill fill_of(const NumberType& type, OutputContent content);

/// Throws std::invalid_argument if `terms` is negative, a dimension is not positive, a data file has the wrong length,
/// or values do not fit an argument's type. `problem` describes the problem in the message.
void check_values(const Operation& operation, const Environment& environment, const std::string& problem);

/// Launches typed/kernels/fill.cu. `source` has the numbers for TypedFill::copied. If `changed` is not null, the
/// kernel compares instead of filling. Each block then writes to `changed` the index of its first element that has
/// changed, or -1.
void fill_typed(const LoadedKernel& kernel, const MatrixOperand& matrix, const TypedFill& how, std::int64_t blocks,
                const Memory* source, const Memory* changed);

}  // namespace smemtune
