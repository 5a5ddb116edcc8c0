// The rates of a multiprocessor that models of a launch's time assume. templates/launch/estimate.h gives their sources.
#pragma once

namespace smemtune::rates {

inline constexpr double operations_per_cycle = 256;   ///< 128 lanes, each of which multiplies and adds
inline constexpr double global_bytes_per_cycle = 64;  ///< from the L2 cache, per multiprocessor
inline constexpr double shared_words_per_cycle = 32;
inline constexpr double memory_latency = 600;  ///< cycles; within a factor of two since compute capability 7.0
inline constexpr double barrier_latency = 30;

}  // namespace smemtune::rates
