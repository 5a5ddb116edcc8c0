// The objects that the handles of smemtune.h point to.
#pragma once

#include <vector>

#include "runtime/c/smemtune.h"
#include "runtime/runtime.h"
#include "templates/arguments/argument_type.h"

struct smemtune_runtime {
    smemtune::Runtime runtime;
};

struct smemtune_kernel {
    smemtune::Kernel kernel;
    std::vector<smemtune::KernelArgument> arguments;
    std::vector<const smemtune::NumberType*> types;  ///< number type of each argument, or of the elements it points to
};

namespace smemtune {

/// Converts a problem of the C interface. Throws std::invalid_argument if the name of the operation is missing.
Problem problem_of(const smemtune_problem& given);

}  // namespace smemtune
