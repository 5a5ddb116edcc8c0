// A kernel fetched through the runtime where a loaded one is expected: what is verified and timed is the application's
// own path.
#pragma once

#include <utility>

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class FetchedKernel : public LoadedKernel {
public:
    explicit FetchedKernel(Kernel kernel) : kernel_(std::move(kernel)), count_(kernel_.argument_names().size()) {}
    /// The kernel knows its own launch.
    void launch(StreamHandle stream, const Launch&, void* const* arguments) const override {
        kernel_.launch(stream, {arguments, count_});
    }

private:
    Kernel kernel_;
    std::size_t count_;
};

}  // namespace smemtune
