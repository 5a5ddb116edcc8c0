// Checks file names that come from a database or a manifest.
#pragma once

#include <string_view>

namespace smemtune {

/// Whether `path`, joined to a folder, names a file below that folder, and is the only spelling of that name. The path
/// must be relative, with one `/` between its parts. No part may be `.` or `..`. The path must not contain a backslash,
/// a double quotation mark or a control character (such as NUL).
bool stays_inside(std::string_view path);

}  // namespace smemtune
