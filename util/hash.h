// Hashes of content: the same content has the same name everywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace smemtune {

/// A UUID of version 5 (SHA-1) over `text`.
std::string content_hash(std::string_view text);

/// SHA-256 as 64 hexadecimal digits, for content whose every change must be noticed: machine code, stored sources.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace smemtune
