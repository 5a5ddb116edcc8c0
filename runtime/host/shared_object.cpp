#include "runtime/host/shared_object.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "util/process.h"

namespace smemtune {

namespace {

// Returns the record of type T at the byte `at` of `code`. Returns zeros if it is not within `code`.
template <class T>
T record_at(const std::vector<std::uint8_t>& code, std::uint64_t at) {
    T record{};
    if (at <= code.size() && code.size() - at >= sizeof record) std::memcpy(&record, code.data() + at, sizeof record);
    return record;
}

// `symbol` is a mangled name. If it is the name of a variable inside a function whose name is `function`, returns that
// function. Otherwise returns an empty text. For example, if `symbol` stands for `ns::kernel<4>(float*)::tile` and
// `function` is `kernel`, returns `ns::kernel<4>(float*)`.
std::string function_of(const char* symbol, const std::string& function) {
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr),
                                                           &std::free);
    if (!text || !std::string_view(symbol).starts_with("_ZZ")) return {};
    const std::string name(text.get());
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const auto at = name.find(function);
    if (at == std::string::npos || (at > 0 && is_word(name[at - 1]))) return {};
    const auto end = at + function.size();
    return end < name.size() && !is_word(name[end]) ? name.substr(0, name.rfind("::")) : "";
}

}  // namespace

std::int64_t static_shared_bytes(const std::vector<std::uint8_t>& code, const std::string& function) {
    const auto header = record_at<Elf64_Ehdr>(code, 0);
    const auto section = [&](std::uint64_t index) {
        return record_at<Elf64_Shdr>(code, header.e_shoff + index * sizeof(Elf64_Shdr));
    };
    // The file may have several overloads, or instances of a template. It is not known here which of them will be
    // launched, so the largest size is returned.
    std::map<std::string, std::int64_t> bytes;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto symbols = section(i);
        if (symbols.sh_type != SHT_SYMTAB) continue;
        const auto names = section(symbols.sh_link);
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = record_at<Elf64_Sym>(code, symbols.sh_offset + at);
            // A `__shared__` variable is thread_local on the host device (cuda_on_cpu.h).
            if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || names.sh_offset + symbol.st_name >= code.size()) continue;
            const auto* name = reinterpret_cast<const char*>(code.data() + names.sh_offset + symbol.st_name);
            if (const auto found = function_of(name, function); !found.empty()) {
                bytes[found] += static_cast<std::int64_t>(symbol.st_size);
            }
        }
    }
    std::int64_t largest = 0;
    for (const auto& each : bytes) largest = std::max(largest, each.second);
    return largest;
}

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
