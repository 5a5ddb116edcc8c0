// Completes stored configurations after a template got new parameters.
#pragma once

#include "db/query.h"
#include "templates/space/configuration.h"

namespace smemtune {

/// Gives the trials and machine code of a template the default values of the parameters that they lack. If two trials
/// then have the same configuration, the one that was complete before stays. It becomes the winner if the other trial
/// was the winner and it is a measurement. Runs inside the caller's transaction.
void complete_configurations(Connection& connection, std::int64_t kernel_template, const Configuration& defaults);

}  // namespace smemtune
