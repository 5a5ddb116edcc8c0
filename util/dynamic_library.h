// A shared library that is opened by name at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// Closes the library with its owner.
class DynamicLibrary {
public:
    /// The first of `names` that opens, as dlopen() finds it. When none does, it is no library, and error() says why
    /// the last one did not open.
    explicit DynamicLibrary(const std::vector<std::string>& names);
    ~DynamicLibrary();
    DynamicLibrary(const DynamicLibrary&) = delete;
    DynamicLibrary& operator=(const DynamicLibrary&) = delete;

    explicit operator bool() const { return handle_ != nullptr; }
    [[nodiscard]] const std::string& error() const { return error_; }

    /// Sets `function` to the address of `name`, or to null when the library has no such symbol, and tells which.
    template <class Function>
    bool find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(address_of(name));
        return function != nullptr;
    }

    /// Leaves the library open for the life of the process: some do not survive to be unloaded.
    void keep_open() { keeps_open_ = true; }

private:
    [[nodiscard]] void* address_of(const char* name) const;

    void* handle_ = nullptr;
    bool keeps_open_ = false;
    std::string error_;
};

}  // namespace smemtune
