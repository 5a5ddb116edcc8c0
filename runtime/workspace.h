// Workspaces: the memory that kernels need beside their operands.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "runtime/backend.h"

namespace smemtune {

/// Identifies a stream by its handle. For the handle cudaStreamPerThread, the key also has the thread, because this
/// handle means a different stream in each thread. If CUDA reuses the handle of a destroyed stream, the new stream has
/// the same key.
using StreamKey = std::pair<StreamHandle, std::thread::id>;
StreamKey stream_key(StreamHandle stream);

/// Launches with the workspace's `address` inserted as argument number `place`. The last arguments before `place` are
/// the launch's tensor maps, if it has any. If a map is all zeros and the kernel copies the map's matrix to the
/// workspace (TensorMapArgument::copy_at), encodes the map for that copy.
void launch_with_workspace(const LoadedKernel& kernel, StreamHandle stream, const Launch& launch,
                           void* const* arguments, std::size_t place, void* address);

/// When the first workspace is allocated.
enum class FirstWorkspace { now, at_launch };

/// Returns `kernel` with the workspace that `launch` asks for, or `kernel` itself if it asks for none. Callers pass all
/// arguments but the workspace's address. Each stream has its own workspace, because launches on different streams may
/// run at the same time. With FirstWorkspace::now, the first workspace is allocated here. The first launch on each
/// further stream allocates another workspace, even while the stream is captured. Every launch takes a lock. `backend`
/// must outlive the result. Throws OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend, FirstWorkspace first = FirstWorkspace::now);

}  // namespace smemtune
