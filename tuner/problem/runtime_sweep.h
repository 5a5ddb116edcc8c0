// Run-time parameters do not change the machine code, so a search leaves them at their defaults. At its end, the sweep
// tries the best few configurations with all their values.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// The configuration with each other valid combination of values of its run-time parameters.
std::vector<Configuration> runtime_variants(const KernelTemplate& kernel_template, const Configuration& configuration,
                                            const Problem& problem, const Device& device);

/// The untried variants of the best trials. With `transferred`, only of transferred trials among the best.
std::vector<TemplateConfiguration> sweep_candidates(TrialLedger& ledger, const Problem& problem, const Device& device,
                                                    bool transferred);

}  // namespace smemtune
