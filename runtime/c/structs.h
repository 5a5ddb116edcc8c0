// Reads and writes structs of smemtune.h to which later versions may append fields. The first field of such a struct is
// its size in the caller's version.
#pragma once

#include <algorithm>
#include <cstring>

#include "runtime/c/status.h"

namespace smemtune {

inline void require_struct_size(std::size_t size, std::size_t smallest, const char* name) {
    constexpr std::size_t largest = 4096;  // a larger struct_size is probably uninitialised
    if (size < smallest || size > largest) {
        throw CallError(SMEMTUNE_INVALID_STRUCT, std::string(name) + ".struct_size=" + std::to_string(size) +
                                                     " is wrong; set it to sizeof(" + name + ")");
    }
}

/// Copies the caller's struct to the struct of this library's version. Fields that the caller's version lacks become 0.
/// `smallest` is the struct's size in version 0.1. Throws CallError if struct_size is wrong, or if the caller sets
/// fields that this library's version lacks.
template <class Struct>
Struct read_struct(const Struct& given, std::size_t smallest, const char* name) {
    const auto size = given.struct_size;
    require_struct_size(size, smallest, name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
    if (std::any_of(bytes + std::min(size, sizeof(Struct)), bytes + size, [](auto byte) { return byte != 0; })) {
        throw CallError(
            SMEMTUNE_INVALID_STRUCT,
            std::string(name) + " sets fields that are newer than this library; link a newer version of the library");
    }
    Struct result{};
    std::memcpy(&result, bytes, std::min(size, sizeof(Struct)));
    return result;
}

/// Writes the fields that the caller's struct has. Fields that this library's version lacks become 0. Throws CallError
/// if struct_size is wrong.
template <class Struct>
void write_struct(const Struct& result, Struct& to, std::size_t smallest, const char* name) {
    const auto size = to.struct_size;
    require_struct_size(size, smallest, name);
    auto* bytes = reinterpret_cast<unsigned char*>(&to);
    std::memcpy(bytes, &result, std::min(size, sizeof(Struct)));
    std::fill(bytes + std::min(size, sizeof(Struct)), bytes + size, static_cast<unsigned char>(0));
    to.struct_size = size;
}

}  // namespace smemtune
