// The headers that a source takes for granted under nvcc and that NVRTC does not bring along.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace smemtune {

/// The folders with CUDA's headers (`cuda_fp16.h`, `cub/cub.cuh`): of the first that has them among `toolkits`, the
/// toolkit that `library` (a path of libnvrtc, or empty) belongs to, the build's toolkit and /usr/local/cuda. Empty if
/// none has.
std::vector<std::string> toolkit_include_folders(const std::vector<std::string>& toolkits, const std::string& library);

/// Stands in for headers of the C library, for device code alone: `stdint.h`, `float.h`, `math.h` and the like, by
/// name.
const std::map<std::string, std::string>& c_headers();

}  // namespace smemtune
