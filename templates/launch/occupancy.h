// Computes how many blocks fit on a multiprocessor, and their registers.
#pragma once

#include <cstdint>
#include <string_view>

#include "templates/launch/launch.h"

namespace smemtune {

/// Warps get registers in units of this many.
inline constexpr std::int64_t register_unit = 256;
/// A multiprocessor has four schedulers, so warps count in multiples of four.
inline constexpr std::int64_t warps_together = 4;

/// The registers that the hardware checks when it launches a block: it assumes that each scheduler holds as many of the
/// block's warps as the fullest one. The largest 64-bit number if the result overflows.
std::int64_t registers_per_block(const Launch& launch, const Device& device);

/// Resident blocks per multiprocessor, by each limit.
struct Occupancy {
    std::int64_t by_threads = 0;
    std::int64_t by_shared_memory = 0;
    std::int64_t by_registers = 0;
    std::int64_t by_blocks = 0;

    [[nodiscard]] std::int64_t blocks() const;
    /// The first of "threads", "shared memory", "registers" and "blocks" that allows no more than blocks().
    [[nodiscard]] std::string_view limiter() const;
};

/// Registers are allocated per warp in units of 256, and warps in multiples of four per multiprocessor. Shared memory
/// is allocated in units of 128 bytes (256 before compute capability 8), plus the bytes reserved per block. Source:
/// CUDA C++ Programming Guide, "Compute Capabilities", and the arithmetic of its occupancy calculator.
Occupancy occupancy(const Launch& launch, const Device& device);

}  // namespace smemtune
