// Times as the database stores them.
#pragma once

#include <cstdint>
#include <string>

namespace smemtune {

/// Milliseconds since 1970 of a time in UTC, ISO 8601: `2026-11-23T01:30:35.428Z`. 0 if the text is no such time.
std::int64_t milliseconds_of(const std::string& timestamp);

}  // namespace smemtune
