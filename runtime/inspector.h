// Access to a Runtime's internals for smemtune's own tools. Not installed.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class RuntimeInspector {
public:
    /// The device of the fetched kernels, to allocate and time on it.
    static Backend& backend(Runtime& runtime);
    static const Compiler& compiler(const Runtime& runtime);
    /// A runtime with a different database that shares this one's device and templates, so that kernels of both can be
    /// timed alternately. Throws StoreError.
    static Runtime beside(const Runtime& runtime, const std::filesystem::path& database);
    /// A runtime whose device is `backend`, whatever Options::device says.
    static Runtime on(std::shared_ptr<Backend> backend, const Runtime::Options& options);
};

}  // namespace smemtune
