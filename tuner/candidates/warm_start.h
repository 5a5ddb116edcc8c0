// Start points of a search: winners of other sizes and layouts on this device, and winners on similar devices. They are
// measured like all other candidates.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct WarmStart {
    /// Winners of the template for the nearest problems on this device: first of this layout, then of the others. Then
    /// those on the most similar other devices. The most promising first, each once.
    std::vector<Configuration> starts;
    /// The template's best time divided by the best of all templates, at the nearest tuned problem on this device (at
    /// most a factor of four away in every extent); nothing if unknown. Trials that were cut short count.
    std::optional<double> behind;
};

/// The template's fastest configurations at the `most` nearest other sizes that were tuned on this device. The nearest
/// first, each once.
std::vector<Configuration> winners_nearby(const Store& store, std::int64_t device_row, const Problem& problem,
                                          const KernelTemplate& kernel_template, std::size_t most);

/// `template_row`: of `kernel_template` in the store.
WarmStart warm_start(const Store& store, std::int64_t device_row, const Device& device, const Problem& problem,
                     const KernelTemplate& kernel_template, std::int64_t template_row);

}  // namespace smemtune
