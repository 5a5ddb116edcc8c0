// Where to look for libraries of the CUDA Toolkit that are loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// File names for DynamicLibrary, in order. For `libnvrtc`: the soname of the build's toolkit; that soname in the
/// build's toolkit folder and in the usual one; at last, `libnvrtc.so`.
std::vector<std::string> toolkit_library_names(const std::string& library);

}  // namespace smemtune
