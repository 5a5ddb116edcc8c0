// The memory that a kernel needs beside its operands.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace smemtune {

/// `kernel` with the workspace that `launch` asks for; `kernel` itself when it asks for none. Callers pass all
/// arguments but the workspace's address. Each stream has its own workspace, as launches on one stream run one after
/// the other. The first workspace is allocated here, each further one by the first launch on another stream.
/// Backend::time_us must not be that launch: it captures its stream. Every launch takes a lock. `backend` must outlive
/// the result. Throws OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend);

}  // namespace smemtune
