// Checks file names that come from a database or a manifest.
#pragma once

#include <string_view>

namespace smemtune {

/// Whether `path`, joined to a folder, names a file below it, in a single spelling: the path is relative, one `/`
/// separates its parts, no part is `.` or `..`, and it has no backslash, quotation mark or control character (such as
/// NUL).
bool stays_inside(std::string_view path);

}  // namespace smemtune
