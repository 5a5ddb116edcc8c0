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

/// Stands in for headers that NVRTC cannot compile or find, for device code alone, by name: those of the C library
/// (`stdint.h`, `math.h` and the like), and `cub/cub.cuh`, whose stand-in has CUB's algorithms of blocks and warps.
const std::map<std::string, std::string>& stand_in_headers();

}  // namespace smemtune
