// NVIDIA GPUs through the CUDA runtime, linked statically: it finds the driver at its first call, or reports none.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

std::unique_ptr<Backend> open_cuda(int ordinal);

}  // namespace smemtune
