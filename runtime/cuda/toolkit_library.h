// Where to look for libraries of the CUDA Toolkit that are loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// Returns file names for DynamicLibrary, which tries them in order. `library` is a name such as `libnvrtc`. The
/// versioned name (`libnvrtc.so.13`) has the major version of the toolkit that smemtune was built with. The order is:
/// the versioned name alone; the versioned name in that toolkit's folder; the versioned name in /usr/local/cuda/lib64;
/// `libnvrtc.so`.
std::vector<std::string> toolkit_library_names(const std::string& library);

}  // namespace smemtune
