// How many blocks and registers a multiprocessor gives to a launch.
#pragma once

#include <cstdint>
#include <string_view>

#include "templates/launch/launch.h"

namespace smemtune {

/// Warps are given registers in units of this many,
inline constexpr std::int64_t register_unit = 256;
/// and in multiples of this many warps: a multiprocessor has four schedulers.
inline constexpr std::int64_t warps_together = 4;

/// What the hardware checks when it launches a block: as if each scheduler held as many of the block's warps as the
/// fullest one. The largest 64-bit number when it does not fit in 64 bits.
std::int64_t registers_per_block(const Launch& launch, const Device& device);

/// Resident blocks per multiprocessor, by each limit.
struct Occupancy {
    std::int64_t by_threads = 0;
    std::int64_t by_shared_memory = 0;
    std::int64_t by_registers = 0;
    std::int64_t by_blocks = 0;

    [[nodiscard]] std::int64_t blocks() const;
    /// "threads", "shared memory", "registers" or "blocks": the first of them that allows no more than blocks().
    [[nodiscard]] std::string_view limiter() const;
};

/// Registers are given out per warp, in units of 256, to warps in multiples of four per multiprocessor; shared memory
/// in units of 128 bytes (256 before compute capability 8) on top of what is reserved per block (CUDA C++ Programming
/// Guide, "Compute Capabilities"; the arithmetic of its occupancy calculator).
Occupancy occupancy(const Launch& launch, const Device& device);

}  // namespace smemtune
