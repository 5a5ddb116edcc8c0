// A loaded kernel with the launch of one configuration on one problem.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "runtime/backend.h"

namespace smemtune {

class ConfiguredKernel final : public BoundKernel {
public:
    /// `kernel` has its workspace already (workspace.h), if `launch` asks for one.
    ConfiguredKernel(std::shared_ptr<const LoadedKernel> kernel, Launch launch)
        : kernel_(std::move(kernel)), launch_(std::move(launch)) {}

    [[nodiscard]] const Launch& parameters() const { return launch_; }

    /// Appends the configuration's run-time arguments. Inline: this is the path of the public runtime.
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        if (launch_.runtime_arguments.empty()) return kernel_->launch(stream, launch_, arguments.data());
        std::array<void*, most_arguments> all{};
        auto* next = std::ranges::copy(arguments, all.begin()).out;
        for (const auto& value : launch_.runtime_arguments) *next++ = const_cast<int*>(&value);
        kernel_->launch(stream, launch_, all.data());
    }

private:
    std::shared_ptr<const LoadedKernel> kernel_;
    Launch launch_;
};

}  // namespace smemtune
