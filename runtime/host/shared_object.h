// Loads a shared object from anonymous memory, so that no file is written to disk. Each open object has a path of its
// own, /proc/PID/fd/N, so dlopen() does not mistake it for another.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "util/dynamic_library.h"

namespace smemtune {

class SharedObject {
public:
    /// Throws DeviceError if there is too little memory, LaunchError if `code` cannot be loaded.
    explicit SharedObject(const std::vector<std::uint8_t>& code);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// Sets `function` to the function `name`. Throws LaunchError if the shared object lacks this function.
    template <class Function>
    void find(const char* name, Function*& function) const {
        if (!library_->find(name, function)) throw LaunchError(std::string("the kernel's code has no ") + name);
    }

    /// The source line of a return address, such as "tiled.cu:31". Needs the debug information of checked kernels.
    [[nodiscard]] std::string locate(const void* address) const;

private:
    int file_;
    std::string path_;
    std::optional<DynamicLibrary> library_;
};

/// Returns the size of the `__shared__` arrays that the function `function` of a shared object declares. `function` is
/// a name without namespaces and template arguments. If several functions have this name, such as the instances of a
/// template, returns the largest of their sizes. Arrays of other functions that `function` calls are not counted,
/// because the shared object does not show which kernel calls them.
std::int64_t static_shared_bytes(const std::vector<std::uint8_t>& code, const std::string& function);

/// A user's C++ function, such as a reference, which is called on the CPU.
class HostFunction {
public:
    /// `code` is the machine code of a Program with `on_host`. Throws LaunchError, DeviceError.
    explicit HostFunction(const std::vector<std::uint8_t>& code) : object_(code) {
        object_.find("smemtune_call_function", function_);
    }

    /// Calls the function. `arguments[i]` points to the value of parameter i. If the function throws, throws
    /// std::runtime_error with the same message.
    void call(void* const* arguments) const {
        const char* const error = function_(arguments);
        if (error != nullptr) throw std::runtime_error(error);
    }

private:
    SharedObject object_;
    const char* (*function_)(void* const*) = nullptr;
};

}  // namespace smemtune
