// Hashes of content: the same text has the same name everywhere.
#pragma once

#include <string>
#include <string_view>

namespace smemtune {

/// A UUID of version 5 (SHA-1) over `text`.
std::string content_hash(std::string_view text);

}  // namespace smemtune
