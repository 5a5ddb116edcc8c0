// Where to look for libraries of the CUDA Toolkit that are loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// File names for DynamicLibrary, which tries them in this order. First comes the soname of the toolkit that smemtune
/// was built with, then this soname in that toolkit's folder, then in /usr/local/cuda/lib64, and last `LIBRARY.so`.
/// `library` is a name such as `libnvrtc`.
std::vector<std::string> toolkit_library_names(const std::string& library);

}  // namespace smemtune
