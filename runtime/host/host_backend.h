// The host CPU as a device. The system's C++ compiler compiles the same kernels, and operating system threads run their
// blocks.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// The CPU as a Device. A CPU has no limits such as threads per block, so the Device gets the limits of an sm_90 GPU.
/// The same configurations are then feasible on the CPU and on the GPU.
Device host_device();

std::unique_ptr<Backend> open_host(const BackendOptions& options);

}  // namespace smemtune
