// The host CPU as a device. The system's compiler compiles the same kernels, and threads run the blocks.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// The host's limits. Where a CPU has none, they are a large GPU's, so that the same configurations are feasible.
Device host_device();

std::unique_ptr<Backend> open_host(const BackendOptions& options);

}  // namespace smemtune
