// Hashes of content. The same content has the same hash on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace smemtune {

/// Returns a UUID of version 5 (SHA-1) over `text`.
std::string content_hash(std::string_view text);

/// Returns SHA-256 as 64 hexadecimal digits. Used where every change of the content must be noticed, as for machine
/// code.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace smemtune
