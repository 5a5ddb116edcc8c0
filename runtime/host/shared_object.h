// A shared object in anonymous memory. It leaves nothing on disk and shares its name with no other object.
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
    /// Throws DeviceError if there is no memory for it, LaunchError if `code` cannot be loaded.
    explicit SharedObject(const std::vector<std::uint8_t>& code);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// Throws LaunchError.
    template <class Function>
    void find(const char* name, Function*& function) const {
        if (!library_->find(name, function)) throw LaunchError(std::string("the kernel's code has no ") + name);
    }

    /// "tiled.cu:31", from the debug information of checked kernels.
    [[nodiscard]] std::string locate(const void* address) const;

private:
    int file_;
    std::string path_;
    std::optional<DynamicLibrary> library_;
};

/// A C++ function of the user's, called on the host.
class HostFunction {
public:
    /// `code`: of a Program with `on_host`. Throws LaunchError, DeviceError.
    explicit HostFunction(const std::vector<std::uint8_t>& code) : object_(code) {
        object_.find("smemtune_call_function", function_);
    }

    /// `arguments[i]` points to the value of parameter i. Throws std::runtime_error with what the function throws.
    void call(void* const* arguments) const {
        const char* const error = function_(arguments);
        if (error != nullptr) throw std::runtime_error(error);
    }

private:
    SharedObject object_;
    const char* (*function_)(void* const*) = nullptr;
};

}  // namespace smemtune
