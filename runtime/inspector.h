// Access to a Runtime's internals for smemtune's own tools. Not installed.
#pragma once

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
};

}  // namespace smemtune
