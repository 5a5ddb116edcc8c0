// Stored configurations of a template that has got new parameters.
#pragma once

#include "db/query.h"
#include "templates/space/configuration.h"

namespace smemtune {

/// Gives the trials and machine code of a template the defaults of the parameters that they lack. Where that makes two
/// trials of one configuration, the one that was complete stays, with the other's crown if it is a measurement. Inside
/// the caller's transaction.
void complete_configurations(Connection& connection, std::int64_t kernel_template, const Configuration& defaults);

}  // namespace smemtune
