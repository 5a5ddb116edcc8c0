// Decides which configurations fit a device: the limits of blocks and grids, and the feasible space under them.
#pragma once

#include <optional>
#include <string>

#include "templates/launch/launch.h"

namespace smemtune {

/// The first limit of `device` that `launch` breaks, in words; nothing when it fits.
std::optional<std::string> broken_limit(const Launch& launch, const Device& device);

/// Explains why a configuration is not feasible, without enumerating the space: an unknown parameter or value, the
/// constraint that removes it with its reason, or the limit that it breaks. Nothing if it is feasible.
std::optional<std::string> infeasibility(const KernelTemplate& kernel_template, const Configuration& configuration,
                                         const Problem& problem, const Device& device);

/// The template's valid configurations for a problem on a device: its own constraints and the device's limits.
ParameterSpace feasible_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

/// The configurations that satisfy the template's own constraints, whether or not they fit the device.
ParameterSpace declared_space(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);

}  // namespace smemtune
