// Calls a kernel or C++ function of the user's with the operands of a check.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/backend.h"
#include "runtime/host/shared_object.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

/// Takes the operation's arguments, its parameters, and further arrays. All arguments of the constructor but `binary`
/// must outlive it.
class UserProgram {
public:
    /// `binary`: of a program beside the kernel. Throws OutOfMemory, LaunchError.
    UserProgram(Backend& backend, const Operation& operation, const Binary& binary, bool on_host);

    /// `arrays`: device memory, each with the place in it that is passed. A kernel gets 256 threads per block, and one
    /// thread per element of the largest argument. What a C++ function writes to operands and arrays is copied back.
    /// Throws OutOfMemory, LaunchError, and ReferenceError with what the function throws.
    struct Array {
        Memory* memory = nullptr;
        std::ptrdiff_t begin = 0;  ///< in bytes
    };
    void call(const Operands& operands, std::span<const Array> arrays);

private:
    void launch(const Operands& operands, std::vector<void*>& pointers, std::span<const Array> arrays);
    void call_function(const Operands& operands, std::vector<void*>& pointers, std::span<const Array> arrays);

    Backend& backend_;
    const Operation& operation_;
    std::unique_ptr<LoadedKernel> kernel_;
    std::optional<HostFunction> function_;
};

}  // namespace smemtune
