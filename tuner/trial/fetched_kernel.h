// A kernel that the runtime fetched, as a testbed takes it: what is verified and timed is the application's own path.
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
