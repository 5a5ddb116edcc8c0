// A kernel fetched from the runtime, for a testbed. It launches as an application does, so the application's path is
// verified and timed.
#pragma once

#include <utility>

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class FetchedKernel : public BoundKernel {
public:
    explicit FetchedKernel(Kernel kernel) : kernel_(std::move(kernel)) {}
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        kernel_.launch(stream, arguments);
    }

private:
    Kernel kernel_;
};

}  // namespace smemtune
