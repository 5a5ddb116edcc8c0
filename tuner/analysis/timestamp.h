// Parses times as the database stores them.
#pragma once

#include <cstdint>
#include <string>

namespace smemtune {

/// Returns a UTC time in ISO 8601, such as `2026-11-23T01:30:35.428Z`, as milliseconds since 1970. Returns 0 if the
/// text is not such a time.
std::int64_t milliseconds_of(const std::string& timestamp);

}  // namespace smemtune
