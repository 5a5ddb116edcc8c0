#include "runtime/host/shared_object.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sstream>

#include "util/process.h"

namespace smemtune {

SharedObject::SharedObject(const std::vector<std::uint8_t>& code)
    : file_(memfd_create("smemtune-kernel", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, code.data(), code.size()) != static_cast<ssize_t>(code.size())) {
        if (file_ >= 0) close(file_);
        throw DeviceError("the host has no memory for a kernel");
    }
    path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
    library_.emplace(std::vector{path_});
    if (!*library_) {
        close(file_);
        throw LaunchError("the kernel cannot be loaded: " + library_->error());
    }
}

SharedObject::~SharedObject() {
    library_.reset();
    close(file_);
}

std::string SharedObject::locate(const void* address) const {
    Dl_info info{};
    if (dladdr(address, &info) == 0) return "unknown line";
    // `address` is a return address, so the address before it belongs to the call instruction.
    const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase) - 1;
    std::ostringstream hexadecimal;
    hexadecimal << std::hex << offset;
    const auto found = run_process({"addr2line", "-s", "-e", path_, hexadecimal.str()}, std::chrono::seconds(10));
    return found.exit_code == 0 ? found.output.substr(0, found.output.find_first_of(" \n")) : "unknown line";
}

}  // namespace smemtune
