// A shared object in anonymous memory: nothing on disk, and no name that a later one could be taken for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smemtune {

class SharedObject {
public:
    /// Throws DeviceError when there is no memory for it, LaunchError when `code` cannot be loaded.
    explicit SharedObject(const std::vector<std::uint8_t>& code);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// Throws LaunchError.
    template <class Function>
    void find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(address_of(name));
    }

    /// "tiled.cu:31", from the debug information that checked kernels carry.
    [[nodiscard]] std::string locate(const void* address) const;

private:
    [[nodiscard]] void* address_of(const char* name) const;

    int file_;
    std::string path_;
    void* handle_ = nullptr;
};

}  // namespace smemtune
