// The NVIDIA GPUs of this machine and their properties. No function here creates a CUDA context.
#pragma once

#include <string>
#include <vector>

#include "templates/space/device.h"

namespace smemtune {

/// Returns all GPUs; none without a driver.
std::vector<Device> cuda_devices();

/// Returns the GPU with this number. Throws DeviceError.
Device cuda_device(int ordinal);

/// The PCI bus id that NVML expects, such as `0000:1B:00.0`. Throws DeviceError.
std::string cuda_bus_id(int ordinal);

/// The versions of the driver, of the newest CUDA that it supports, and of the CUDA runtime. Stored with measurements.
std::string cuda_versions();

}  // namespace smemtune
