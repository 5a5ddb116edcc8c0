// Decides which configurations fit a device: checks the limits of blocks and grids, and enumerates the feasible space.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "templates/launch/launch.h"

namespace smemtune {

/// Returns a message about the first limit of `device` that `launch` exceeds; nothing if the launch fits.
std::optional<std::string> broken_limit(const Launch& launch, const Device& device);

/// The two parts of broken_limit(): limits of a block, which do not depend on the grid, and limits of the grid and the
/// workspace.
std::optional<std::string> broken_block_limit(const Launch& launch, const Device& device);
std::optional<std::string> broken_grid_limit(const Launch& launch, const Device& device);
/// Whether broken_grid_limit() returns nothing for a launch with this grid and workspace. Takes a few nanoseconds.
bool is_within_grid_limits(const std::array<std::int64_t, 3>& grid, std::optional<std::int64_t> workspace_bytes,
                           const Device& device);

/// Returns a message that says why a configuration is not feasible; nothing if it is feasible. Reasons are an unknown
/// parameter or value, a violated constraint, or an exceeded limit of the device. Does not enumerate the space.
std::optional<std::string> infeasibility(const KernelTemplate& kernel_template, const Configuration& configuration,
                                         const Problem& problem, const Device& device);

/// Returns the configurations that meet the template's constraints and the device's limits.
ParameterSpace feasible_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

/// Returns the configurations that meet the template's constraints, even if they exceed limits of the device.
ParameterSpace declared_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

}  // namespace smemtune
