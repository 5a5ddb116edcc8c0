// The launch and occupancy of a trial, for the page.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "db/record.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Grid, block, and on a GPU the resident blocks by each limit, the limiter, and the waves of blocks. Null if the
/// template's rules have no value there.
nlohmann::json launch_facts(const KernelTemplate& kernel, const TrialRecord& trial, const Problem& problem,
                            const Device& device);

}  // namespace smemtune
