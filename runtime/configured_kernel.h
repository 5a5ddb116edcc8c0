// A loaded kernel with the launch of one configuration on one problem.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "runtime/backend.h"
#include "runtime/launch/tensor_map.h"

namespace smemtune {

/// When arguments are copied to arrays of the kernel's source: at each launch, or only by fill_symbols().
enum class FillSymbols { at_launch, when_asked };

class ConfiguredKernel final : public BoundKernel {
public:
    /// If `launch` asks for a workspace, `kernel` must add the workspace to its arguments, like the kernels that
    /// with_workspace() returns.
    ConfiguredKernel(std::shared_ptr<const LoadedKernel> kernel, Launch launch,
                     FillSymbols fill = FillSymbols::at_launch)
        : kernel_(std::move(kernel)),
          launch_(std::move(launch)),
          fill_(fill),
          is_plain_(launch_.runtime_arguments.empty() && launch_.symbols.empty() && launch_.tensor_maps.empty()) {}

    [[nodiscard]] const Launch& parameters() const { return launch_; }
    void prepare(StreamHandle stream) const { kernel_->prepare(stream); }

    void fill_symbols(StreamHandle stream, std::span<void* const> arguments) const override {
        for (const auto& symbol : launch_.symbols) {
            kernel_->fill_symbol(stream, symbol, *static_cast<void* const*>(arguments[symbol.place]));
        }
    }

    /// Launches with `arguments` except those copied to arrays (SymbolArgument). Appends the configuration's run-time
    /// arguments and tensor maps. Inline, because every launch of the public runtime calls this function.
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        if (is_plain_) return kernel_->launch(stream, launch_, arguments.data());
        if (fill_ == FillSymbols::at_launch) fill_symbols(stream, arguments);
        std::array<void*, most_arguments> all;  // NOLINT(*-member-init): zeroing all of them takes too long
        auto* next = all.begin();
        auto begin = arguments.begin();
        for (const auto& symbol : launch_.symbols) {
            const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(symbol.place);
            next = std::copy(begin, end, next);
            begin = end + 1;
        }
        next = std::copy(begin, arguments.end(), next);
        for (const auto& value : launch_.runtime_arguments) *next++ = const_cast<int*>(&value);
        if (!launch_.tensor_maps.empty()) return launch_with_maps(stream, arguments, all, next);
        kernel_->launch(stream, launch_, all.data());
    }

private:
    void launch_with_maps(StreamHandle stream, std::span<void* const> arguments, std::array<void*, most_arguments>& all,
                          void** next) const {
        std::array<EncodedTensorMap, most_tensor_maps> maps;  // NOLINT(*-member-init): encode_tensor_map() writes them
        auto* map = maps.begin();
        for (const auto& each : launch_.tensor_maps) {
            encode_tensor_map(*map, each, each.is_copy ? nullptr : *static_cast<void* const*>(arguments[each.matrix]),
                              *static_cast<const long long*>(arguments[each.stride]));
            *next++ = map++;
        }
        kernel_->launch(stream, launch_, all.data());
    }

    std::shared_ptr<const LoadedKernel> kernel_;
    Launch launch_;
    FillSymbols fill_;
    bool is_plain_;  // whether launch() passes its arguments to the kernel unchanged
};

}  // namespace smemtune
