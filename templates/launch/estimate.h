// What a template's model lets one expect of a configuration, before anything is compiled. It orders candidates; it
// forbids none.
#pragma once

#include <optional>

#include "templates/launch/limits.h"

namespace smemtune {

/// A lower bound of the time of one launch, in microseconds (in multiprocessor cycles / 1000 where the clock is not
/// known); nothing when the template declares no model, or the launch does not fit the device.
///
/// A multiprocessor works through its share of the blocks in waves. For each wave the busiest of four resources counts:
/// - arithmetic: two operations per lane and cycle, `multiprocessor_lanes` lanes;
/// - global memory: 64 bytes per cycle and multiprocessor, what the L2 cache delivers (DeepGEMM's and CUTLASS's
///   performance models use the same rate);
/// - shared memory: 32 words per cycle, one for each bank (CUDA C++ Programming Guide, "Shared Memory");
/// - latency: a phase of a block takes at least one trip to memory and its barriers, which other resident blocks hide.
std::optional<double> estimated_us(const KernelTemplate& kernel_template, const Configuration& configuration,
                                   const Problem& problem, const Device& device);

}  // namespace smemtune
