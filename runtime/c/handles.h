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
    std::vector<const smemtune::NumberType*> types;  ///< of the arguments' numbers
};

namespace smemtune {

/// Throws std::invalid_argument if a text is missing.
Problem problem_of(const smemtune_problem& given);

}  // namespace smemtune
