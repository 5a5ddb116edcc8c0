// Checked mode: the compiler instruments a kernel (-fsanitize=kernel-address and bounds). The instrumented kernel calls
// the functions of this file before every memory access and at every array index that is out of bounds.
//
// These functions replace those of the sanitizers' run-time libraries. A violation then ends only the launch, and the
// message names source line and thread.
#pragma once

// The functions are hidden, because smemtune itself may be built with a sanitizer. The kernel must not call the
// functions of that sanitizer, which have the same names.
#define SMEMTUNE_UNCHECKED \
    __attribute__((no_sanitize("kernel-address"), no_sanitize("undefined"), visibility("hidden")))

namespace smemtune_host {

SMEMTUNE_UNCHECKED inline void check(const char* address, long long bytes, bool write, const void* code) {
    const SmemtuneThread* thread = current;
    if (thread == nullptr) return;
    for (long long i = 0; i < thread->range_count; ++i) {
        const SmemtuneRange& range = thread->ranges[i];
        if (address < range.around_begin || address >= range.around_end) continue;
        if (address >= range.begin && address + bytes <= range.end) return;
        thread->outside(thread->scheduler, address, bytes, write, code);
    }
}

struct SourceLocation {
    const char* file;
    unsigned line, column;
};
struct TypeDescriptor {
    unsigned short kind, info;
    char name[1];
};
struct OutOfBounds {
    SourceLocation location;
    const TypeDescriptor* array;
    const TypeDescriptor* index;
};

}  // namespace smemtune_host

extern "C" {
#define SMEMTUNE_ACCESS(bytes)                                                    \
    SMEMTUNE_UNCHECKED void __asan_load##bytes##_noabort(const char* address) {   \
        smemtune_host::check(address, bytes, false, __builtin_return_address(0)); \
    }                                                                             \
    SMEMTUNE_UNCHECKED void __asan_store##bytes##_noabort(const char* address) {  \
        smemtune_host::check(address, bytes, true, __builtin_return_address(0));  \
    }
SMEMTUNE_ACCESS(1)
SMEMTUNE_ACCESS(2)
SMEMTUNE_ACCESS(4)
SMEMTUNE_ACCESS(8)
SMEMTUNE_ACCESS(16)
#undef SMEMTUNE_ACCESS
SMEMTUNE_UNCHECKED void __asan_loadN_noabort(const char* address, unsigned long bytes) {
    smemtune_host::check(address, static_cast<long long>(bytes), false, __builtin_return_address(0));
}
SMEMTUNE_UNCHECKED void __asan_storeN_noabort(const char* address, unsigned long bytes) {
    smemtune_host::check(address, static_cast<long long>(bytes), true, __builtin_return_address(0));
}
SMEMTUNE_UNCHECKED void __asan_handle_no_return() {}
SMEMTUNE_UNCHECKED void __ubsan_handle_out_of_bounds(smemtune_host::OutOfBounds* what, unsigned long index) {
    const SmemtuneThread* thread = smemtune_host::current;
    thread->out_of_bounds(thread->scheduler, what->location.file, what->location.line, what->array->name,
                          static_cast<long long>(index));
}
}
