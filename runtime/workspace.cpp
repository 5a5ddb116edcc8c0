#include "runtime/workspace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace smemtune {

namespace {

class KernelWithWorkspace : public LoadedKernel {
public:
    KernelWithWorkspace(std::shared_ptr<const LoadedKernel> kernel, const WorkspaceArgument& workspace,
                        Backend& backend)
        : kernel_(std::move(kernel)), workspace_(workspace), backend_(backend), spare_(allocate()) {}

    void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const override {
        void* address = address_for(stream);
        std::array<void*, most_arguments> all{};
        std::copy_n(arguments, workspace_.place, all.begin());
        all.at(workspace_.place) = &address;
        kernel_->launch(stream, launch, all.data());
    }

private:
    // Null when the kernel asks for 0 bytes.
    [[nodiscard]] std::unique_ptr<Memory> allocate() const {
        if (workspace_.bytes == 0) return nullptr;
        return backend_.allocate_zeroed(static_cast<std::size_t>(workspace_.bytes));
    }

    [[nodiscard]] void* address_for(StreamHandle stream) const {
        if (workspace_.bytes == 0) return nullptr;
        // The handle cudaStreamPerThread means a different stream in each thread.
        const bool per_thread = reinterpret_cast<std::uintptr_t>(stream) == 2;
        // A handle that is reused after its stream was destroyed finds the workspace of that stream.
        const std::pair key(stream, per_thread ? std::this_thread::get_id() : std::thread::id());
        const std::scoped_lock lock(mutex_);
        auto& memory = memories_[key];
        if (!memory) memory = spare_ ? std::move(spare_) : allocate();
        return memory->data();
    }

    std::shared_ptr<const LoadedKernel> kernel_;
    WorkspaceArgument workspace_;
    Backend& backend_;
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Memory> spare_;
    mutable std::map<std::pair<StreamHandle, std::thread::id>, std::unique_ptr<Memory>> memories_;
};

}  // namespace

std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend) {
    if (!launch.workspace) return kernel;
    return std::make_shared<KernelWithWorkspace>(std::move(kernel), *launch.workspace, backend);
}

}  // namespace smemtune
