// The rates of a multiprocessor with which smemtune estimates the time of a launch. Sources:
// templates/launch/estimate.h.
#pragma once

#include <cstdint>

namespace smemtune::rates {

inline constexpr double operations_per_cycle = 256;   ///< 128 FP32 units, each of which multiplies and adds
inline constexpr double global_bytes_per_cycle = 64;  ///< bytes from the L2 cache, per cycle and multiprocessor
inline constexpr double shared_words_per_cycle = 32;
/// The latency of a memory access in cycles. It is right within a factor of two for compute capability 7.0 and up.
inline constexpr double memory_latency = 600;
inline constexpr double barrier_latency = 30;  ///< the latency of a barrier in cycles
/// Average number of working multiprocessors in two groups (GPCs), which have 16 or 18 multiprocessors each. A cluster
/// of blocks runs within one group. The averages were derived from GPUs with 132 multiprocessors. With one block per
/// multiprocessor, an H200 ran 31 clusters of 4 blocks at once, but H100s ran only 30. Both ran 15 clusters of 8
/// blocks, and the H200 ran 7 of 16 blocks. With more blocks per multiprocessor, the H100s, too, used 31 * 4
/// multiprocessors.
inline constexpr std::int64_t two_groups_of_one_block = 35;
inline constexpr std::int64_t two_groups_of_more_blocks = 34;

}  // namespace smemtune::rates
