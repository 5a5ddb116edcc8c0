// Computes the importance of parameters from the trials of a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"
#include "tuner/analysis/importance.h"

namespace smemtune {

/// A space is enumerated only if it has at most this many combinations of values before constraints.
constexpr std::uint64_t most_raw_points = 100'000;

/// Returns the valid configurations of a template for a problem on a device. Returns nothing if the space has more than
/// most_raw_points combinations, if `kernel` is null, or if the template's constraints cannot be evaluated for this
/// problem.
std::optional<ParameterSpace> valid_configurations(const KernelTemplate* kernel, const Problem& problem,
                                                   const Device& device);

/// The importance of parameters from the trials of one version of a template for one device and problem.
struct StoredImportance {
    std::string device, kernel_template;
    Problem problem;
    Importance importance;
};

/// Returns one entry for each device, problem and template with trials that match the filter, in the order of their
/// first trials. Takes about 30 ms for 1,000 trials. Throws StoreError.
std::vector<StoredImportance> stored_importance(const Store& store, Store::Filter filter);

}  // namespace smemtune
