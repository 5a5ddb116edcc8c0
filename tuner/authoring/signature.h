// Parses the arguments that a kernel's source declares.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace smemtune {

struct DeclaredArgument {
    std::string type, name;  ///< `unsigned char` and `data` for `const unsigned char* data`
    bool pointer = false, constant = false;
};

/// Parses a list of arguments, such as "int n, float* out".
std::vector<DeclaredArgument> declared_arguments(const std::string& list);

/// Parses the arguments of the function `name`. Returns nothing if the source does not define this function.
std::optional<std::vector<DeclaredArgument>> kernel_arguments(const std::string& source, const std::string& name);

/// Converts the C++ type `name` to the name that manifests use, such as `float` to `f32` and `uint4` to `u32x4`.
/// Follows macros and typedefs of the source. Returns nothing for other types, such as structs.
std::optional<std::string> number_type(const std::string& source, const std::string& name);

}  // namespace smemtune
