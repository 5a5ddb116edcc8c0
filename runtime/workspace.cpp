#include "runtime/workspace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/launch/tensor_map.h"

namespace smemtune {

namespace {

class KernelWithWorkspace : public LoadedKernel {
public:
    KernelWithWorkspace(std::shared_ptr<const LoadedKernel> kernel, const WorkspaceArgument& workspace,
                        Backend& backend, FirstWorkspace first)
        : kernel_(std::move(kernel)), workspace_(workspace), backend_(backend) {
        if (first == FirstWorkspace::now) spare_ = allocate();
    }

    void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const override {
        launch_with_workspace(*kernel_, stream, launch, arguments, workspace_.place, address_for(stream));
    }

    void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const override {
        kernel_->fill_symbol(stream, symbol, from);
    }

private:
    // Returns null if the kernel asks for 0 bytes.
    [[nodiscard]] std::unique_ptr<Memory> allocate() const {
        if (workspace_.bytes == 0) return nullptr;
        return backend_.allocate_zeroed(static_cast<std::size_t>(workspace_.bytes));
    }

    [[nodiscard]] void* address_for(StreamHandle stream) const {
        if (workspace_.bytes == 0) return nullptr;
        const std::scoped_lock lock(mutex_);
        auto& memory = memories_[stream_key(stream)];
        if (!memory) memory = spare_ ? std::move(spare_) : allocate();
        return memory->data();
    }

    std::shared_ptr<const LoadedKernel> kernel_;
    WorkspaceArgument workspace_;
    Backend& backend_;
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Memory> spare_;
    mutable std::map<StreamKey, std::unique_ptr<Memory>> memories_;
};

}  // namespace

StreamKey stream_key(StreamHandle stream) {
    const bool per_thread = reinterpret_cast<std::uintptr_t>(stream) == 2;
    return {stream, per_thread ? std::this_thread::get_id() : std::thread::id()};
}

void launch_with_workspace(const LoadedKernel& kernel, StreamHandle stream, const Launch& launch,
                           void* const* arguments, std::size_t place, void* address) {
    std::array<void*, most_arguments + 1> all{};
    std::copy_n(arguments, place, all.begin());
    all.at(place) = &address;
    const auto& maps = launch.tensor_maps;
    for (std::size_t i = 0; i < maps.size(); ++i) {
        if (!maps[i].copy_at) continue;
        encode_map_of_copy(*static_cast<EncodedTensorMap*>(arguments[place - maps.size() + i]), maps[i], address);
    }
    kernel.launch(stream, launch, all.data());
}

std::shared_ptr<const LoadedKernel> with_workspace(std::shared_ptr<const LoadedKernel> kernel, const Launch& launch,
                                                   Backend& backend, FirstWorkspace first) {
    if (!launch.workspace) return kernel;
    return std::make_shared<KernelWithWorkspace>(std::move(kernel), *launch.workspace, backend, first);
}

}  // namespace smemtune
