// Names of files that come from outside, and where they may lead.
#pragma once

#include <string_view>

namespace smemtune {

/// Whether `path`, joined to a folder, names a file below it, and in one spelling only: relative, its parts separated
/// by one `/`, no part `.` or `..`, no backslash, quotation mark or control character (NUL among them).
bool stays_inside(std::string_view path);

}  // namespace smemtune
