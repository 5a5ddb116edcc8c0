#include "templates/launch/occupancy.h"

#include <algorithm>
#include <limits>

namespace smemtune {

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t warps_of(const Launch& launch, const Device& device) {
    return std::max<std::int64_t>(1, launch.threads() / device.warp_size + (launch.threads() % device.warp_size != 0));
}

std::int64_t registers_per_warp(const Launch& launch, const Device& device) {
    return round_up(launch.registers * device.warp_size, register_unit);
}

}  // namespace

std::int64_t registers_per_block(const Launch& launch, const Device& device) {
    const auto warps = round_up(warps_of(launch, device), warps_together);
    std::int64_t registers = 0;
    return __builtin_mul_overflow(registers_per_warp(launch, device), warps, &registers) ? no_limit : registers;
}

std::int64_t Occupancy::blocks() const { return std::min({by_threads, by_shared_memory, by_registers, by_blocks}); }

std::string_view Occupancy::limiter() const {
    if (by_threads == blocks()) return "threads";
    if (by_shared_memory == blocks()) return "shared memory";
    if (by_registers == blocks()) return "registers";
    return "blocks";
}

Occupancy occupancy(const Launch& launch, const Device& device) {
    const auto warps = warps_of(launch, device);
    const auto shared_unit = device.is_host() ? 1 : device.compute_capability >= 80 ? 128 : 256;
    const auto shared = round_up(launch.shared_bytes() + device.shared_bytes_reserved_per_block, shared_unit);
    Occupancy result;
    result.by_threads = device.threads_per_multiprocessor / (warps * device.warp_size);
    result.by_blocks = device.blocks_per_multiprocessor;
    result.by_shared_memory = shared == 0 ? no_limit : device.shared_bytes_per_multiprocessor / shared;
    result.by_registers = no_limit;
    if (launch.registers > 0) {
        const auto resident_warps = device.registers_per_multiprocessor / registers_per_warp(launch, device);
        result.by_registers = resident_warps / warps_together * warps_together / warps;
    }
    return result;
}

}  // namespace smemtune
