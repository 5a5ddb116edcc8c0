#include "util/dynamic_library.h"

#include <dlfcn.h>

namespace smemtune {

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
    for (const auto& name : names) {
        handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) return;
        error_ = dlerror();
    }
}

DynamicLibrary::~DynamicLibrary() {
    if (handle_ != nullptr && !keeps_open_) dlclose(handle_);
}

void* DynamicLibrary::address_of(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

}  // namespace smemtune
