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
    /// If `launch` asks for a workspace, `kernel` must have it already (workspace.h).
    ConfiguredKernel(std::shared_ptr<const LoadedKernel> kernel, Launch launch)
        : kernel_(std::move(kernel)), launch_(std::move(launch)) {}

    [[nodiscard]] const Launch& parameters() const { return launch_; }

    /// Appends the configuration's run-time arguments. Inline, because the public runtime launches through it.
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
