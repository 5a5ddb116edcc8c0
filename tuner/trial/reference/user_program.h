// Calls the user's kernel or C++ function with the operands of a check.
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

/// A kernel or C++ function. It takes the operation's arguments, then the operation's parameters, then further arrays.
/// `backend` and `operation` must outlive the object.
class UserProgram {
public:
    /// `binary` is the compiled kernel or C++ function. `on_host` says that it is a function. Throws OutOfMemory,
    /// LaunchError.
    UserProgram(Backend& backend, const Operation& operation, const Binary& binary, bool on_host);

    /// An array that call() passes by the address of byte `begin` of `memory`.
    struct Array {
        Memory* memory = nullptr;
        std::ptrdiff_t begin = 0;  ///< in bytes, from the start of `memory`
    };
    /// Calls the kernel with 256 threads per block and one thread per element of the largest argument, or calls the C++
    /// function. What the function writes to operands and arrays is copied back to the device. Throws OutOfMemory and
    /// LaunchError. If the C++ function throws, call() throws ReferenceError with the function's message.
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
