// NVIDIA GPUs through the CUDA runtime library, which is linked statically and looks for the driver at its first call.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

std::unique_ptr<Backend> open_cuda(int ordinal);

}  // namespace smemtune
