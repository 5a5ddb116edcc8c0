// The workspaces of all kernels of a Runtime: one block of memory for each stream.
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

/// The memory of one stream, in which each kernel has a part. A part holds zeros, or the content that the kernel's
/// previous launch left: kernels rely on counters that they find and leave at 0. When the memory is used up, all parts
/// are reassigned. Reassigning does not wait, because the stream itself zeroes a part after all launches that used it.
class StreamWorkspace {
public:
    /// When the memory is used up, it doubles, up to this size. Beyond that, parts are reassigned instead. A single
    /// part may be larger.
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;
    /// Zeroed memory of at least `bytes`.
    using Allocate = std::function<std::unique_ptr<Memory>(std::size_t bytes)>;

    /// The part of kernel `id`, on `stream`. Callers hold `mutex` until the launch is enqueued. Throws OutOfMemory.
    void* part_of(std::uint64_t id, std::size_t bytes, StreamHandle stream, Backend& backend, const Allocate& allocate);

    std::mutex mutex;
    std::uint64_t last_use = 0;  ///< guarded by the pool

private:
    [[nodiscard]] std::size_t capacity() const { return blocks_.empty() ? 0 : blocks_.back()->size(); }

    std::vector<std::unique_ptr<Memory>> blocks_;  // the last is in use; launches may still use those before
    std::map<std::uint64_t, std::size_t> parts_;   // offset of each kernel's part
    std::size_t used_ = 0;
    std::size_t touched_ = 0;  // beyond it, the block holds the zeros that it was allocated with
};

/// Any thread may call it.
class WorkspacePool {
public:
    /// With more streams than this, the memory of the least recently used stream is freed.
    static constexpr std::size_t most_streams = 128;

    explicit WorkspacePool(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}

    /// Allocates `bytes` ahead, for the next stream that needs memory. Throws OutOfMemory.
    void reserve(std::size_t bytes);
    /// Calls `launch(address)` with the part of kernel `id` in the stream's memory, while no other thread launches
    /// with that stream's memory. Throws OutOfMemory and what `launch` throws.
    void with_part(std::uint64_t id, std::size_t bytes, StreamHandle stream, const std::function<void(void*)>& launch);

    [[nodiscard]] Backend& backend() const { return *backend_; }
    [[nodiscard]] std::uint64_t new_id() { return ++last_id_; }

private:
    std::shared_ptr<StreamWorkspace> of_stream(StreamHandle stream);
    std::unique_ptr<Memory> allocate(std::size_t bytes);

    std::shared_ptr<Backend> backend_;  // must outlive all memory
    std::atomic<std::uint64_t> last_id_ = 0;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Memory>> spares_;  // for streams to come, smallest first
    std::size_t largest_ = 0;                      // the most that was allocated for one stream
    std::uint64_t uses_ = 0;
    std::map<StreamKey, std::shared_ptr<StreamWorkspace>> streams_;
};

/// Returns `kernel` with its part of `pool`'s memory at each launch, or `kernel` itself if `launch` asks for no
/// workspace. Callers pass all arguments but the workspace's address. A launch that is captured gets memory of the
/// kernel's own, one for each stream, because its graph may run at any later time. Every launch takes locks. Throws
/// OutOfMemory, here or at a launch.
std::shared_ptr<const LoadedKernel> with_pooled_workspace(std::shared_ptr<const LoadedKernel> kernel,
                                                          const Launch& launch, std::shared_ptr<WorkspacePool> pool);

}  // namespace smemtune
