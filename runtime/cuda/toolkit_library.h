// Where the libraries of the CUDA Toolkit that are opened at run time are looked for.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// Names for DynamicLibrary: of `libnvrtc` the soname of the toolkit built with, the same in that toolkit's folder and
/// in the usual one, and last whatever is called `libnvrtc.so`.
std::vector<std::string> toolkit_library_names(const std::string& library);

}  // namespace smemtune
