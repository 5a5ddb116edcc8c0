// The arguments that a kernel's source declares.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace smemtune {

struct DeclaredArgument {
    std::string type, name;  ///< `unsigned char` of `const unsigned char* data`
    bool pointer = false, constant = false;
};

/// Those of a parameter list, "int n, float* out".
std::vector<DeclaredArgument> declared_arguments(const std::string& list);

/// Those of the function `name` that the source defines, if it does.
std::optional<std::vector<DeclaredArgument>> kernel_arguments(const std::string& source, const std::string& name);

}  // namespace smemtune
