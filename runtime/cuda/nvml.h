// The clock and the energy counter of a GPU, from the driver's management library where it is installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/dynamic_library.h"

namespace smemtune {

/// The driver's version as NVIDIA writes it, `580.159.04`; empty without the library.
std::string nvidia_driver();

/// Reads one GPU's sensors. Opens libnvidia-ml at construction; without it everything is unknown.
class GpuSensors {
public:
    /// `bus_id` as the CUDA runtime gives it: `0000:1b:00.0`.
    explicit GpuSensors(const std::string& bus_id);

    /// The multiprocessor clock now, in kHz; 0 when unknown.
    [[nodiscard]] std::int64_t clock_khz() const;
    /// The energy used since the driver was loaded, in mJ; it is updated every 20 to 100 ms. Volta and newer.
    [[nodiscard]] std::optional<std::uint64_t> millijoules() const;

private:
    DynamicLibrary library_;
    void* device_ = nullptr;
};

}  // namespace smemtune
