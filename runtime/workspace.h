// Workspaces: the memory that kernels need beside their operands.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// Returns `kernel` with the workspace that `launch` asks for, or `kernel` itself if it asks for none. Callers pass all
/// arguments but the workspace's address. Each stream has its own workspace, because launches on one stream run one
/// after another. The first workspace is allocated here; the first launch on each further stream allocates another one.
/// Backend::time_us must not make that launch: it captures its stream. Every launch takes a lock. `backend` must
/// outlive the result. Throws OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend);

}  // namespace smemtune
