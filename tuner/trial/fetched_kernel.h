// Wraps a kernel that the runtime library returned, so that a testbed can launch it. The launch takes the same path as
// an application's launch, so the testbed verifies and times this path.
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
