// A C++ header for applications: an operation's kernel with its signature.
#pragma once

#include <string>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The text of a header with a class that fetches the tuned kernel of an operation and launches it with typed
/// arguments, and a function that does both. `type`: of the elements. Throws std::invalid_argument if a name of the
/// operation is no name in C++.
std::string header_of(const Operation& operation, const std::string& type);

}  // namespace smemtune
