// NVIDIA GPUs through the CUDA runtime, linked statically: it finds the driver at its first call, or reports none.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backend.h"

namespace smemtune {

/// Empty where there is no GPU or no driver. Creates no context.
std::vector<Device> cuda_devices();

/// The driver, its CUDA version and the runtime's, for the record. Creates no context.
std::string cuda_versions();

std::unique_ptr<Backend> open_cuda(int ordinal);

}  // namespace smemtune
