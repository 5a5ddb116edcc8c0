// Which configurations a device can hold: the limits of blocks and grids, and the feasible space under them.
#pragma once

#include <optional>
#include <string>

#include "templates/launch/launch.h"

namespace smemtune {

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

}  // namespace smemtune
