// A shared library that is opened by name at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// Opens a library in the constructor and closes it in the destructor.
class DynamicLibrary {
public:
    /// Opens the first of `names` that dlopen() can open. If it can open none, the object holds no library, and error()
    /// tells why the last name could not be opened.
    explicit DynamicLibrary(const std::vector<std::string>& names);
    ~DynamicLibrary();
    DynamicLibrary(const DynamicLibrary&) = delete;
    DynamicLibrary& operator=(const DynamicLibrary&) = delete;

    explicit operator bool() const { return handle_ != nullptr; }
    [[nodiscard]] const std::string& error() const { return error_; }

    /// Sets `function` to the address of `name` and returns true. If the library lacks that symbol, sets `function` to
    /// null and returns false.
    template <class Function>
    bool find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(address_of(name));
        return function != nullptr;
    }

    /// Makes the destructor leave the library open, because some libraries cannot be unloaded safely.
    void keep_open() { keeps_open_ = true; }

private:
    [[nodiscard]] void* address_of(const char* name) const;

    void* handle_ = nullptr;
    bool keeps_open_ = false;
    std::string error_;
};

}  // namespace smemtune
