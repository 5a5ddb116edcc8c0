// Reads a GPU's clock and energy counter from NVML, the driver's management library, if it is installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/dynamic_library.h"

namespace smemtune {

/// The driver's version as NVIDIA writes it, such as `580.159.04`; empty if NVML is not installed.
std::string nvidia_driver();

/// Reads one GPU's sensors. The constructor opens libnvidia-ml; without that library all values are unknown.
class GpuSensors {
public:
    /// `bus_id` is the result of cuda_bus_id(), such as `0000:1B:00.0`.
    explicit GpuSensors(const std::string& bus_id);

    /// The current multiprocessor clock in kHz; 0 when unknown.
    [[nodiscard]] std::int64_t clock_khz() const;
    /// The energy in mJ that the GPU has used since the driver was loaded; nullopt when unknown, as on GPUs before
    /// Volta. The counter changes every 20 to 100 ms.
    [[nodiscard]] std::optional<std::uint64_t> millijoules() const;

private:
    DynamicLibrary library_;
    void* device_ = nullptr;
};

}  // namespace smemtune
