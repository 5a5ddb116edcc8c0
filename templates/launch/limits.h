// Limits and occupancy: what a launch asks for against what a device holds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Device memory that a kernel works in, beside its operands. It holds zeros before the first launch, and whatever one
/// launch left before the next; launches that run at the same time have one each.
struct WorkspaceArgument {
    std::int64_t bytes = 0;  ///< 0: the address is null
    std::size_t place = 0;   ///< of its address among the kernel's arguments: the last

    friend bool operator==(const WorkspaceArgument&, const WorkspaceArgument&) = default;
};

/// A launch of one configuration on one problem.
struct Launch {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::int64_t static_shared_bytes = 0;   ///< per block
    std::int64_t dynamic_shared_bytes = 0;  ///< per block
    std::int64_t registers = 0;             ///< per thread; 0 when not known
    std::vector<int> runtime_arguments{};   ///< what follows the operation's arguments, in the manifest's order
    std::optional<WorkspaceArgument> workspace{};

    // What does not fit in 64 bits is the largest number that does: no device allows it.
    [[nodiscard]] std::int64_t threads() const;
    [[nodiscard]] std::int64_t blocks() const;
    [[nodiscard]] std::int64_t shared_bytes() const;
};

/// By the manifest; `registers` is its estimate. Throws ExpressionError.
Launch launch_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
                 const Device& device);

/// The first limit of `device` that `launch` breaks, in words; nothing when it fits.
std::optional<std::string> broken_limit(const Launch& launch, const Device& device);

/// Why a configuration is not feasible, without enumerating the space: a parameter or value that is unknown, the
/// constraint that removes it with its reason, or the limit that it breaks. Nothing when it is.
std::optional<std::string> infeasibility(const KernelTemplate& kernel_template, const Configuration& configuration,
                                         const Problem& problem, const Device& device);

/// The template's valid configurations for a problem on a device: its own constraints and the device's limits.
ParameterSpace feasible_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

/// The configurations that the template's own constraints leave, whether or not the device can hold them.
ParameterSpace declared_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

/// What a template's [model] says of one block.
struct Reuse {
    std::int64_t phases = 0;
    std::int64_t loads_per_phase = 0;       ///< elements read from global memory
    std::int64_t operations_per_phase = 0;  ///< arithmetic
    std::int64_t barriers_per_phase = 0;
    std::int64_t shared_loads_per_phase = 0;  ///< words that its warps read from shared memory; 0: not modelled

    [[nodiscard]] double operations_per_load() const {
        return loads_per_phase == 0 ? 0
                                    : static_cast<double>(operations_per_phase) / static_cast<double>(loads_per_phase);
    }
};
/// All zeros when the template has no model.
Reuse reuse_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
               const Device& device);

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
