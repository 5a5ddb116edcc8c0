// Where to look for libraries of the CUDA Toolkit that are loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// File names for DynamicLibrary, in the order in which they are tried: the soname of the build's toolkit, that soname
/// in the build's toolkit folder, that soname in /usr/local/cuda/lib64, and last `LIBRARY.so`. `library` is a name such
/// as `libnvrtc`.
std::vector<std::string> toolkit_library_names(const std::string& library);

}  // namespace smemtune
