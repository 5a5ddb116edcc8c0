// The memory that a kernel works in beside its operands.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// `kernel` with the workspace that `launch` asks for, where it asks for one: a launch takes all arguments but its
/// address. Each stream gets one of its own: of what is launched on one stream, only one runs at a time. The first is
/// allocated here, and each other by the first launch on a further stream, which Backend::time_us must not be: it
/// captures its own. Every launch takes a lock. `backend` must outlive the result. Throws OutOfMemory, here or at a
/// launch.
std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend);

}  // namespace smemtune
