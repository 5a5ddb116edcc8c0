// The figures of a multiprocessor with which smemtune estimates the time of a launch. templates/launch/estimate.h says
// where the rates per cycle come from.
#pragma once

#include <cstdint>

namespace smemtune::rates {

inline constexpr double operations_per_cycle = 256;   ///< 128 FP32 units, each of which multiplies and adds
inline constexpr double global_bytes_per_cycle = 64;  ///< bytes from the L2 cache, per cycle and multiprocessor
inline constexpr double shared_words_per_cycle = 32;
/// The latency of a memory access in cycles. It is right within a factor of two for compute capability 7.0 and up.
inline constexpr double memory_latency = 600;
inline constexpr double barrier_latency = 30;  ///< the latency of a barrier in cycles
/// How many multiprocessors two groups (GPCs) have together. A cluster of blocks runs within one group. Real groups
/// have 16 or 18 multiprocessors, some of which may be disabled. The numbers below are fitted: with them,
/// blocks_at_once() (templates/predict/bound_launch.cpp) gives the measured numbers of clusters on GPUs with 132
/// multiprocessors. With one block per multiprocessor, H100s ran 30 clusters of 4 blocks (an H200 ran 31), 15 of 8
/// blocks or 7 of 16 blocks. With more blocks per multiprocessor, clusters of 4 used 31 * 4 multiprocessors.
inline constexpr std::int64_t multiprocessors_per_two_groups_with_one_block = 35;
inline constexpr std::int64_t multiprocessors_per_two_groups_with_more_blocks = 34;

}  // namespace smemtune::rates
