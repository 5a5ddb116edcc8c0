// Where a search starts: winners of other sizes on this device, and of similar devices. They are measured again like
// every other candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct WarmStart {
    /// Winners of the template for the nearest problems on the device itself, then on the most similar other ones; the
    /// most promising first, none twice.
    std::vector<Configuration> starts;
    /// The template's best time over the best of all templates, for the nearest problem on the device itself (at most
    /// a factor of four away in every extent); nothing when unknown.
    std::optional<double> behind;
};

/// The template's fastest configurations at the `most` nearest other sizes that were tuned on the device itself, the
/// nearest first, none twice.
std::vector<Configuration> winners_nearby(const Store& store, std::int64_t device_row, const Problem& problem,
                                          const KernelTemplate& kernel_template, std::size_t most);

WarmStart warm_start(const Store& store, std::int64_t device_row, const Device& device, const Problem& problem,
                     const KernelTemplate& kernel_template);

}  // namespace smemtune
