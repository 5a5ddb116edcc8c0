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
/// Average number of working multiprocessors in a group (GPC), which has 16 or 18 multiprocessors. A cluster of blocks
/// runs within one group. The average was derived from an H200, which has 132 multiprocessors. With at most one block
/// per multiprocessor, 31 clusters of 4 blocks, 15 clusters of 8 blocks or 7 clusters of 16 blocks ran at once.
inline constexpr std::int64_t multiprocessors_per_group = 17;

}  // namespace smemtune::rates
