// A loaded kernel with the launch of one configuration on one problem.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "runtime/backend.h"

namespace smemtune {

/// When the arrays of a kernel's source are filled from arguments: at each launch, or by fill_symbols() alone.
enum class FillSymbols { at_launch, when_asked };

class ConfiguredKernel final : public BoundKernel {
public:
    /// If `launch` asks for a workspace, `kernel` must have it already (workspace.h).
    ConfiguredKernel(std::shared_ptr<const LoadedKernel> kernel, Launch launch,
                     FillSymbols fill = FillSymbols::at_launch)
        : kernel_(std::move(kernel)),
          launch_(std::move(launch)),
          fill_(fill),
          is_plain_(launch_.runtime_arguments.empty() && launch_.symbols.empty()) {}

    [[nodiscard]] const Launch& parameters() const { return launch_; }
    /// As LoadedKernel::prepare.
    void prepare(StreamHandle stream) const { kernel_->prepare(stream); }

    void fill_symbols(StreamHandle stream, std::span<void* const> arguments) const override {
        for (const auto& symbol : launch_.symbols) {
            kernel_->fill_symbol(stream, symbol, *static_cast<void* const*>(arguments[symbol.place]));
        }
    }

    /// Leaves out symbols, and appends the configuration's run-time arguments. Inline, because the public runtime
    /// launches through it.
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        if (is_plain_) return kernel_->launch(stream, launch_, arguments.data());
        if (fill_ == FillSymbols::at_launch) fill_symbols(stream, arguments);
        std::array<void*, most_arguments> all;  // NOLINT(*-member-init): zeros would take as long as the rest
        auto* next = all.begin();
        auto begin = arguments.begin();
        for (const auto& symbol : launch_.symbols) {
            const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(symbol.place);
            next = std::copy(begin, end, next);
            begin = end + 1;
        }
        next = std::copy(begin, arguments.end(), next);
        for (const auto& value : launch_.runtime_arguments) *next++ = const_cast<int*>(&value);
        kernel_->launch(stream, launch_, all.data());
    }

private:
    std::shared_ptr<const LoadedKernel> kernel_;
    Launch launch_;
    FillSymbols fill_;
    bool is_plain_;  // the arguments are those of the kernel
};

}  // namespace smemtune
