// The rates of a multiprocessor that models of a launch's time assume. templates/launch/estimate.h gives their sources.
#pragma once

#include <cstdint>

namespace smemtune::rates {

inline constexpr double operations_per_cycle = 256;   ///< 128 lanes, each of which multiplies and adds
inline constexpr double global_bytes_per_cycle = 64;  ///< from the L2 cache, per multiprocessor
inline constexpr double shared_words_per_cycle = 32;
inline constexpr double memory_latency = 600;  ///< cycles; within a factor of two since compute capability 7.0
inline constexpr double barrier_latency = 30;
/// Multiprocessors in a group (GPC), within which a cluster of blocks runs. An average: a group has 16 or 18 that work.
/// Derived from an H200, whose 132 multiprocessors hold 31 clusters of 4, 15 of 8 or 7 of 16 blocks, with one block on
/// each.
inline constexpr std::int64_t multiprocessors_per_group = 17;

}  // namespace smemtune::rates
