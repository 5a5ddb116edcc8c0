// The host CPU as a device. The system's C++ compiler compiles the same kernels, and operating system threads run their
// blocks.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// The CPU as a Device. A CPU has no limits such as threads per block. These limits are those of an sm_90 GPU, so that
/// the same configurations are feasible.
Device host_device();

std::unique_ptr<Backend> open_host(const BackendOptions& options);

}  // namespace smemtune
