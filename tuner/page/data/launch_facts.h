// Computes the launch and the occupancy of a trial, for the page.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "db/record.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Returns grid, block and shared memory. On a GPU, also returns the resident blocks by each limit, the limiter, and
/// the waves. Returns null if the expressions of the manifest cannot be evaluated for this trial.
nlohmann::json launch_facts(const KernelTemplate& kernel, const TrialRecord& trial, const Problem& problem,
                            const Device& device);

}  // namespace smemtune
