// Computes how many blocks fit on a multiprocessor, and how many registers a block takes.
#pragma once

#include <cstdint>
#include <string_view>

#include "templates/launch/launch.h"

namespace smemtune {

/// The hardware allocates registers to a warp in multiples of this number.
inline constexpr std::int64_t register_unit = 256;
/// Registers are allocated as if warps came in groups of this size, one warp for each scheduler of a multiprocessor.
/// The number of a block's warps is rounded up to a multiple of this size, and the number of warps that fit on a
/// multiprocessor is rounded down.
inline constexpr std::int64_t warps_together = 4;

/// Returns the number of registers that the hardware requires for a block. The hardware assumes that each scheduler
/// gets as many of the block's warps as the busiest scheduler. Returns the largest 64-bit number if the result
/// overflows.
std::int64_t registers_per_block(const Launch& launch, const Device& device);

/// How many blocks can be resident on a multiprocessor, according to each limit.
struct Occupancy {
    std::int64_t by_threads = 0;
    std::int64_t by_shared_memory = 0;
    std::int64_t by_registers = 0;
    std::int64_t by_blocks = 0;

    [[nodiscard]] std::int64_t blocks() const;
    /// Returns the limiter: the first of "threads", "shared memory", "registers" and "blocks" that allows only blocks()
    /// blocks.
    [[nodiscard]] std::string_view limiter() const;
};

/// Computes the occupancy by the rules of the hardware. Registers are allocated per warp in units of 256, and the
/// number of warps whose registers fit is rounded down to a multiple of four. Shared memory, with the bytes reserved
/// per block, is allocated in units of 128 bytes (256 before compute capability 8.0). Source: CUDA C++ Programming
/// Guide, "Compute Capabilities", and the arithmetic of CUDA's occupancy calculator.
Occupancy occupancy(const Launch& launch, const Device& device);

}  // namespace smemtune
