// What an array of a typed operation holds before a launch.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backend.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct MatrixOperand;

/// How fill.cu computes an element. The numbers are those of fill.cu.
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

/// Outputs that are not read are poisoned. Values that the manifest gives come before those of the check. Throws
/// ExpressionError.
TypedFill fill_of(const MatrixOperand& matrix, const Check& check, const Environment& environment, std::int64_t terms);

/// Throws std::invalid_argument if values do not fit an argument's type in the problem that `problem` describes.
void check_values(const Operation& operation, const Environment& environment, const std::string& problem);

/// Launches typed/kernels/fill.cu. `source`: the numbers of a file. With `changed`, checks instead: each block reports
/// the first element that is not as it was filled, or -1.
void fill_typed(const LoadedKernel& kernel, const MatrixOperand& matrix, const TypedFill& how, std::int64_t blocks,
                const Memory* source, const Memory* changed);

}  // namespace smemtune
