#include "runtime/fetch/workspace_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smemtune {

namespace {

constexpr std::size_t part_alignment = 256;

// Rounds the size of a block of memory up to a power of two. All earlier blocks of a stream together are then smaller
// than its current block. For a size above StreamWorkspace::most_bytes, a power of two could waste half of the memory.
// Such a size is rounded up to a multiple of p / 4 instead, where p is the largest power of two that is not above the
// size.
std::size_t rounded_up(std::size_t bytes) {
    if (bytes <= StreamWorkspace::most_bytes) return std::bit_ceil(bytes);
    const auto quarter = std::size_t{1} << (std::bit_width(bytes) - 3);
    return (bytes + quarter - 1) / quarter * quarter;
}

class KernelWithPooledWorkspace : public LoadedKernel {
public:
    KernelWithPooledWorkspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                              std::shared_ptr<WorkspacePool> pool)
        : pool_(std::move(pool)),
          kernel_(std::move(kernel)),
          captured_(with_workspace(kernel_, launch, pool_->backend(), FirstWorkspace::at_launch)),
          place_(launch.workspace->place),
          bytes_(static_cast<std::size_t>(launch.workspace->bytes)),
          id_(pool_->new_id()) {
        pool_->reserve(bytes_);
    }

    void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const override {
        if (bytes_ == 0 || pool_->backend().is_capturing(stream)) return captured_->launch(stream, launch, arguments);
        pool_->with_part(id_, bytes_, stream, [&](void* address) {
            launch_with_workspace(*kernel_, stream, launch, arguments, place_, address);
        });
    }

    void prepare(StreamHandle stream) const override {
        if (bytes_ > 0) pool_->with_part(id_, bytes_, stream, [](void*) {});
        kernel_->prepare(stream);
    }

    void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const override {
        kernel_->fill_symbol(stream, symbol, from);
    }

private:
    std::shared_ptr<WorkspacePool> pool_;
    std::shared_ptr<const LoadedKernel> kernel_;
    std::shared_ptr<const LoadedKernel> captured_;  // the same kernel with a separate workspace, for captures
    std::size_t place_;
    std::size_t bytes_;
    std::uint64_t id_;
};

}  // namespace

void* StreamWorkspace::part_of(std::uint64_t id, std::size_t bytes, StreamHandle stream, Backend& backend,
                               const Allocate& allocate) {
    if (const auto known = parts_.find(id); known != parts_.end()) return blocks_.back()->data() + known->second;
    const auto rounded = (bytes + part_alignment - 1) / part_alignment * part_alignment;
    if (used_ + rounded > capacity()) {
        if (rounded > capacity() || capacity() < most_bytes) {
            blocks_.push_back(allocate(std::max(rounded, std::min(2 * capacity(), most_bytes))));
            touched_ = 0;
        }
        parts_.clear();
        used_ = 0;
    }
    auto* const part = blocks_.back()->data() + used_;
    if (used_ < touched_) backend.fill_with_zeros(part, rounded, stream);
    parts_[id] = used_;
    used_ += rounded;
    touched_ = std::max(touched_, used_);
    return part;
}

void WorkspacePool::reserve(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (bytes <= largest_) return;
    spares_.push_back(backend_->allocate_zeroed(rounded_up(bytes + part_alignment - 1)));
    largest_ = spares_.back()->size();
}

void WorkspacePool::with_part(std::uint64_t id, std::size_t bytes, StreamHandle stream,
                              const std::function<void(void*)>& launch) {
    const auto workspace = of_stream(stream);
    const std::scoped_lock lock(workspace->mutex);
    launch(workspace->part_of(id, bytes, stream, *backend_, [&](std::size_t least) { return allocate(least); }));
}

std::shared_ptr<StreamWorkspace> WorkspacePool::of_stream(StreamHandle stream) {
    std::shared_ptr<StreamWorkspace> idle;  // freed after the lock is released: freeing waits for the device
    const std::scoped_lock lock(mutex_);
    auto& workspace = streams_[stream_key(stream)];
    if (!workspace) workspace = std::make_shared<StreamWorkspace>();
    workspace->last_use = ++uses_;
    if (streams_.size() > most_streams) {
        const auto oldest =
            std::ranges::min_element(streams_, {}, [](const auto& each) { return each.second->last_use; });
        idle = std::move(oldest->second);
        streams_.erase(oldest);
    }
    return workspace;
}

std::unique_ptr<Memory> WorkspacePool::allocate(std::size_t bytes) {
    {
        const std::scoped_lock lock(mutex_);
        const auto fits = std::ranges::find_if(spares_, [&](const auto& spare) { return spare->size() >= bytes; });
        if (fits != spares_.end()) {
            auto memory = std::move(*fits);
            spares_.erase(fits);
            return memory;
        }
    }
    auto memory = backend_->allocate_zeroed(rounded_up(bytes));
    const std::scoped_lock lock(mutex_);
    largest_ = std::max(largest_, memory->size());
    return memory;
}

std::shared_ptr<const LoadedKernel> with_pooled_workspace(std::shared_ptr<const LoadedKernel> kernel,
                                                          const Launch& launch, std::shared_ptr<WorkspacePool> pool) {
    if (!launch.workspace) return kernel;
    return std::make_shared<KernelWithPooledWorkspace>(std::move(kernel), launch, std::move(pool));
}

}  // namespace smemtune
