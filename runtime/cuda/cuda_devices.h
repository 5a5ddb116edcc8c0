// The NVIDIA GPUs of this machine and their properties. Creates no context.
#pragma once

#include <string>
#include <vector>

#include "templates/space/device.h"

namespace smemtune {

/// Empty where there is no GPU or no driver.
std::vector<Device> cuda_devices();

/// Throws DeviceError.
Device cuda_device(int ordinal);

/// The PCI bus id that NVML expects, such as `0000:1B:00.0`. Throws DeviceError.
std::string cuda_bus_id(int ordinal);

/// Versions of the driver, its CUDA version and the CUDA runtime, for the record.
std::string cuda_versions();

}  // namespace smemtune
