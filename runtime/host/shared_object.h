// A shared object in anonymous memory. It leaves nothing on disk and shares its name with no other object.
#pragma once

#include <cstdint>
#include <optional>
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

}  // namespace smemtune
