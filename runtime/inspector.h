// Access to a Runtime's internals for smemtune's own tools. Not installed.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class RuntimeInspector {
public:
    /// The device of the fetched kernels, for allocations and timings.
    static Backend& backend(Runtime& runtime);
    static const Compiler& compiler(const Runtime& runtime);
    /// Returns a Runtime with the database `database`. It shares the device and the templates of `runtime`, so kernels
    /// of the two Runtimes can be timed alternately. Throws StoreError.
    static Runtime beside(const Runtime& runtime, const std::filesystem::path& database);
    /// Returns a Runtime whose device is `backend`. Options::device is ignored.
    static Runtime on(std::shared_ptr<Backend> backend, const Runtime::Options& options);
};

}  // namespace smemtune
