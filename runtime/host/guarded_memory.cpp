#include "runtime/host/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/host/layout.h"

namespace smemtune {

GuardedMemory::GuardedMemory(std::size_t bytes) : size_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto usable = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
    reserved_ = usable + 2 * moat;
    auto* base = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw OutOfMemory("the host has no address space for " + std::to_string(bytes) + " bytes");
    base_ = static_cast<std::byte*>(base);
    if (mprotect(base_ + moat, usable, PROT_READ | PROT_WRITE) != 0) {
        munmap(base_, reserved_);
        throw OutOfMemory("the host has no memory for " + std::to_string(bytes) + " bytes");
    }
    // The memory ends as close to the guard area as the 16-byte alignment of its beginning allows.
    data_ = base_ + moat + (usable - bytes) / 16 * 16;
}

GuardedMemory::~GuardedMemory() { munmap(base_, reserved_); }

SmemtuneRange GuardedMemory::range() const {
    const auto as_text = [](const std::byte* p) { return reinterpret_cast<const char*>(p); };
    return {as_text(base_), as_text(data_), as_text(data_ + size_), as_text(base_ + reserved_)};
}

}  // namespace smemtune
