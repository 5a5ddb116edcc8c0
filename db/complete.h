// Adds new parameters of a template, with their default values, to its stored configurations.
#pragma once

#include "db/query.h"
#include "templates/space/configuration.h"

namespace smemtune {

/// Adds the parameters that stored configurations of a template lack, with their values in `defaults`. This affects
/// trials, machine code and portfolio members. If two trials then have the same configuration, the trial whose
/// configuration was incomplete is deleted. If the deleted trial was the winner, the remaining trial becomes the
/// winner, provided that it was measured completely and verified. Runs inside the caller's transaction.
void complete_configurations(Connection& connection, std::int64_t kernel_template, const Configuration& defaults);

}  // namespace smemtune
