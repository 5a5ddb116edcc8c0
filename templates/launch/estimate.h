// Estimates the time of a configuration from its template's [model], before anything is compiled. The estimate orders
// candidates and rejects none.
#pragma once

#include <cstdint>
#include <optional>

#include "templates/launch/launch.h"

namespace smemtune {

/// The values of a template's [model] for one block.
struct ModelValues {
    std::int64_t phases = 0;
    std::int64_t loads_per_phase = 0;       ///< number of elements read from global memory
    std::int64_t operations_per_phase = 0;  ///< number of arithmetic operations
    std::int64_t barriers_per_phase = 0;
    std::int64_t shared_loads_per_phase = 0;  ///< number of words that warps read from shared memory; 0: not modelled

    [[nodiscard]] double operations_per_load() const {
        return loads_per_phase == 0 ? 0
                                    : static_cast<double>(operations_per_phase) / static_cast<double>(loads_per_phase);
    }
};

/// Evaluates a template's [model]. All values are 0 if the template has no model.
ModelValues model_values(const KernelTemplate& kernel_template, const Configuration& configuration,
                         const Problem& problem, const Device& device);

/// Returns a lower bound of the time of one launch, in microseconds (or in units of 1000 multiprocessor cycles if the
/// clock is unknown). Returns nothing if the template declares no model, or if the launch does not fit the device.
///
/// A multiprocessor runs its share of the blocks in waves. The busiest of four resources decides the time of a wave:
/// - arithmetic: two operations per FP32 unit and cycle, 128 units;
/// - global memory: 64 bytes per cycle and multiprocessor, the rate of the L2 cache (DeepGEMM's and CUTLASS's
/// performance models use the same rate);
/// - shared memory: 32 words per cycle, one for each bank (CUDA C++ Programming Guide, "Shared Memory");
/// - latency: a phase of a block takes at least the time of one memory access and of its barriers; the waits of
/// resident blocks overlap.
std::optional<double> estimated_us(const KernelTemplate& kernel_template, const Configuration& configuration,
                                   const Problem& problem, const Device& device);

}  // namespace smemtune
