// The parts of a Runtime that smemtune's own tools use and applications do not see. Not installed.
#pragma once

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class RuntimeInspector {
public:
    /// The device that fetched kernels run on, to allocate and time there.
    static Backend& backend(Runtime& runtime);
    static const Compiler& compiler(const Runtime& runtime);
    /// A runtime with another database that shares the device and the templates of this one, so that the kernels of
    /// both can be timed in turn. Throws StoreError.
    static Runtime beside(const Runtime& runtime, const std::filesystem::path& database);
};

}  // namespace smemtune
