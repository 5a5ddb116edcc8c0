// Start points of a search: the template's fastest configurations at other sizes and layouts on this device, and on
// similar devices. Start points are measured like all other candidates.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct WarmStart {
    /// The template's fastest configurations at other problems, each once. Those of the nearest sizes with the
    /// problem's layout on this device come first, then those of other layouts, then those on the most similar other
    /// devices.
    std::vector<Configuration> starts;
    /// The template's best time divided by the best time of all templates. Both times are of the nearest tuned
    /// problem on this device that has a measured trial of the template, even one that was cut short. Nothing if
    /// there is no such problem, or if it is farther away than a problem whose three extents are four times as large.
    std::optional<double> behind;
};

/// Returns the template's fastest configuration at each of the `most` nearest other sizes that were tuned on this
/// device. The nearest size comes first, and no configuration comes twice.
std::vector<Configuration> winners_nearby(const Store& store, std::int64_t device_row, const Problem& problem,
                                          const KernelTemplate& kernel_template, std::size_t most);

/// `template_row` is the row of `kernel_template` in the store.
WarmStart warm_start(const Store& store, std::int64_t device_row, const Device& device, const Problem& problem,
                     const KernelTemplate& kernel_template, std::int64_t template_row);

}  // namespace smemtune
