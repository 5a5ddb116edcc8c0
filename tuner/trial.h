// One trial on a device: load, verify, time.
#pragma once

#include <string>
#include <vector>

#include "db/outcome.h"
#include "runtime/backend.h"
#include "tuner/sampling.h"
#include "tuner/workspace.h"

namespace smemtune {

struct TrialInput {
    Binary binary;
    Launch launch;
};

/// Throws DeviceFault: then the device is of no use to this process any more.
Outcome try_candidate(Backend& backend, Workspace& workspace, const TrialInput& input, const SamplingPolicy& policy,
                      double best_us);

/// Times finalists against one another: `rounds` times, one batch of each in turn, so that a drifting clock meets all
/// alike. One measurement for each input.
std::vector<Measurement> play_final(Backend& backend, Workspace& workspace, const std::vector<TrialInput>& inputs,
                                    const SamplingPolicy& policy, int rounds);

}  // namespace smemtune
