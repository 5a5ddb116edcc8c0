// The host CPU as a device: the same kernels, compiled by the system's compiler, blocks spread over threads.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// The host's limits: those of a large GPU where a CPU has none, so that the same configurations are feasible.
Device host_device();

std::unique_ptr<Backend> open_host(const BackendOptions& options);

}  // namespace smemtune
