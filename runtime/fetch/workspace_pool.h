// The workspaces of all kernels of a Runtime. Each stream has memory of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/backend.h"
#include "runtime/workspace.h"

namespace smemtune {

/// The memory of one stream. Each kernel has a part of this memory. When a launch starts, the kernel's part contains
/// zeros, or what the kernel's previous launch left there. Kernels rely on this: they keep counters in the workspace
/// that are 0 before and after each launch. When the memory is used up, all parts are assigned anew. No thread waits
/// for a new part to become free: the stream itself zeroes the part, after the earlier launches that used it.
class StreamWorkspace {
public:
    /// When the memory is used up, its size doubles, up to this limit. At the limit, the same memory is used again. The
    /// memory becomes larger than the limit only if a single part is larger.
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;
    /// Returns zeroed memory of at least `bytes` bytes.
    using Allocate = std::function<std::unique_ptr<Memory>(std::size_t bytes)>;

    /// Returns the address of kernel `id`'s part, for a launch on `stream`. Callers lock `mutex` until the launch is
    /// enqueued. Throws OutOfMemory.
    void* part_of(std::uint64_t id, std::size_t bytes, StreamHandle stream, Backend& backend, const Allocate& allocate);

    std::mutex mutex;
    std::uint64_t last_use = 0;  ///< guarded by the mutex of the WorkspacePool

private:
    [[nodiscard]] std::size_t capacity() const { return blocks_.empty() ? 0 : blocks_.back()->size(); }

    std::vector<std::unique_ptr<Memory>> blocks_;  // new launches use the last; earlier launches may use the others
    std::map<std::uint64_t, std::size_t> parts_;   // offset of each kernel's part, by the kernel's id
    std::size_t used_ = 0;
    std::size_t touched_ = 0;  // from this offset on, the last block was never used and is still zeroed
};

/// The workspaces of a Runtime's streams. Any thread may use the pool.
class WorkspacePool {
public:
    /// If more streams than this have memory, the memory of the least recently used stream is freed.
    static constexpr std::size_t most_streams = 128;

    explicit WorkspacePool(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}

    /// Allocates a block of memory in advance, with room for `bytes` bytes, unless an earlier block was at least as
    /// large. The next stream that needs a block of at most this size gets it. Throws OutOfMemory.
    void reserve(std::size_t bytes);
    /// Calls `launch(address)` with the address of kernel `id`'s part of the stream's memory. A lock keeps other
    /// threads from launching with that memory during the call. Throws OutOfMemory and what `launch` throws.
    void with_part(std::uint64_t id, std::size_t bytes, StreamHandle stream, const std::function<void(void*)>& launch);

    [[nodiscard]] Backend& backend() const { return *backend_; }
    [[nodiscard]] std::uint64_t new_id() { return ++last_id_; }

private:
    std::shared_ptr<StreamWorkspace> of_stream(StreamHandle stream);
    std::unique_ptr<Memory> allocate(std::size_t bytes);

    std::shared_ptr<Backend> backend_;  // declared first, because it must outlive all memory
    std::atomic<std::uint64_t> last_id_ = 0;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Memory>> spares_;  // blocks that no stream uses yet, the smallest first
    std::size_t largest_ = 0;                      // bytes of the largest block so far
    std::uint64_t uses_ = 0;
    std::map<StreamKey, std::shared_ptr<StreamWorkspace>> streams_;
};

/// Returns `kernel` with a workspace from `pool`, or `kernel` itself if `launch` asks for no workspace. Callers pass
/// all arguments but the workspace's address. Captured launches do not use the pool, because their graph may run at any
/// later time. The kernel keeps separate memory for captured launches, one block for each stream. Every launch takes
/// locks. Throws OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_pooled_workspace(std::shared_ptr<const LoadedKernel> kernel,
                                                          const Launch& launch, std::shared_ptr<WorkspacePool> pool);

}  // namespace smemtune
