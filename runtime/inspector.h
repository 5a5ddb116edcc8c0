// What smemtune's own tools see of a Runtime beyond what applications do. Not installed.
#pragma once

#include "runtime/backend.h"
#include "runtime/runtime.h"

namespace smemtune {

class RuntimeInspector {
public:
    /// The device that fetched kernels run on, to allocate and time there.
    static Backend& backend(Runtime& runtime);
    static const Compiler& compiler(const Runtime& runtime);
};

}  // namespace smemtune
