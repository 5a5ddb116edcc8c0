// Writes a C++ header for applications: an operation's kernel with its signature.
#pragma once

#include <string>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Returns the text of a header with a class and a function. The class fetches the tuned kernel of an operation and
/// launches it with typed arguments. The function does both in one call. `type` is the type of the elements. Throws
/// std::invalid_argument if a name in the operation is not a valid name in C++.
std::string header_of(const Operation& operation, const std::string& type);

}  // namespace smemtune
