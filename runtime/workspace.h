// Workspaces: the memory that kernels need beside their operands.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "runtime/backend.h"

namespace smemtune {

/// Identifies a stream: the handle cudaStreamPerThread means a different stream in each thread. A handle that is reused
/// after its stream was destroyed counts as the same stream.
using StreamKey = std::pair<StreamHandle, std::thread::id>;
StreamKey stream_key(StreamHandle stream);

/// Launches with `address` inserted as argument number `place`. The tensor maps stand before it. Those that are zeros
/// and have a place for a copy become maps of the copy.
void launch_with_workspace(const LoadedKernel& kernel, StreamHandle stream, const Launch& launch,
                           void* const* arguments, std::size_t place, void* address);

/// When the first workspace is allocated.
enum class FirstWorkspace { now, at_launch };

/// Returns `kernel` with the workspace that `launch` asks for, or `kernel` itself if it asks for none. Callers pass all
/// arguments but the workspace's address. Each stream has its own workspace, because launches on one stream run one
/// after another. The first workspace is allocated here unless `first` says otherwise. The first launch on each further
/// stream allocates another workspace, even while the stream is captured. Every launch takes a lock. `backend` must
/// outlive the result. Throws OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend, FirstWorkspace first = FirstWorkspace::now);

}  // namespace smemtune
