// Run-time parameters need no other machine code, so a search leaves them at their defaults. At its end, the sweep
// tries the best few configurations with every value.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// The configuration with every other valid combination of its run-time parameters' values.
std::vector<Configuration> runtime_variants(const KernelTemplate& kernel_template, const Configuration& configuration,
                                            const Problem& problem, const Device& device);

/// The variants of the best trials that were not tried; with `transferred`, of the transferred ones among the best.
std::vector<TemplateConfiguration> sweep_candidates(TrialLedger& ledger, const Problem& problem, const Device& device,
                                                    bool transferred);

}  // namespace smemtune
