// The sweep over run-time parameters at the end of a search. Such parameters do not change the machine code, so a
// search leaves them at their defaults. The sweep tries the best few configurations with all values of these
// parameters.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// Returns variants of the configuration: one for each other valid combination of values of its run-time parameters.
std::vector<Configuration> runtime_variants(const KernelTemplate& kernel_template, const Configuration& configuration,
                                            const Problem& problem, const Device& device);

/// Returns the untried variants of the few trials with the least cost. If `transferred` is true, returns only
/// variants of transferred trials.
std::vector<TemplateConfiguration> sweep_candidates(TrialLedger& ledger, const Problem& problem, const Device& device,
                                                    bool transferred);

}  // namespace smemtune
