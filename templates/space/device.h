// A compute device, described by the limits of its blocks, multiprocessors and grids.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/space/expression.h"

namespace smemtune {

struct Device {
    std::string name;
    std::int64_t compute_capability = 0;  ///< compute capability, such as 90 for 9.0; 0 for the host CPU
    std::int64_t multiprocessors = 0;
    std::int64_t warp_size = 32;
    std::int64_t threads_per_block = 0;
    std::int64_t threads_per_multiprocessor = 0;
    std::int64_t blocks_per_multiprocessor = 0;
    std::int64_t static_shared_bytes_per_block = 0;  ///< the most bytes of `__shared__` arrays in a block
    std::int64_t shared_bytes_per_block = 0;         ///< the opt-in maximum of a block's dynamic shared memory
    std::int64_t shared_bytes_per_multiprocessor = 0;
    std::int64_t shared_bytes_reserved_per_block = 0;  ///< bytes that the system takes for each resident block
    std::int64_t registers_per_thread = 0;
    std::int64_t registers_per_block = 0;
    std::int64_t registers_per_multiprocessor = 0;
    std::int64_t grid_x = 0;
    std::int64_t grid_y = 0;
    std::int64_t grid_z = 0;
    std::int64_t l2_bytes = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t clock_khz = 0;  ///< the highest multiprocessor clock; 0 when unknown

    bool operator==(const Device&) const = default;

    [[nodiscard]] bool is_host() const { return compute_capability == 0; }
};

/// Returns the host device in checked mode. It is a different device for the database, because checks of every access
/// make kernels many times slower.
Device checked(Device host);
bool is_checked(const Device& device);

/// A numeric field of Device. Expressions (`device.NAME`), the texts of model_device() and JSON use the same name.
struct DeviceField {
    std::string_view name;
    std::int64_t Device::*member;
};
const std::vector<DeviceField>& device_fields();

/// Returns the value of `device.NAME` for each field.
Environment environment_of(const Device& device);

/// Returns the peak FP32 operations per second, at which every FP32 unit multiplies and adds at the highest clock.
/// Returns 0 if the peak is unknown.
double peak_fp32_flops(const Device& device);

/// Returns the device that a text describes. The text begins with a model, or has only limits. The models are `sm_75`,
/// `sm_80`, `sm_86`, `sm_89`, `sm_90`, `sm_100` and `sm_120`. Each is the largest GPU of its compute capability, by the
/// tables of the CUDA C++ Programming Guide. Limits may replace those of a model, as in
/// `sm_90,shared_bytes_per_block=65536`. Without a model, as in `threads_per_multiprocessor=1536`, all limits that are
/// not given are unlimited. Throws std::invalid_argument that names the unknown part.
Device model_device(std::string_view specification);

}  // namespace smemtune
