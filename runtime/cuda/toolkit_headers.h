// Headers that a source for nvcc may include and that NVRTC does not provide: CUDA's own, and those of the C library.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace smemtune {

/// The include folders of the first CUDA Toolkit that has CUDA's headers (`cuda_fp16.h`). Toolkits are tried in this
/// order: `toolkits`; the one that `library` belongs to (a path of libnvrtc, or empty); the one that smemtune was built
/// with; /usr/local/cuda. Empty if none has the headers.
std::vector<std::string> toolkit_include_folders(const std::vector<std::string>& toolkits, const std::string& library);

/// Texts by header name, for headers that NVRTC cannot find or compile. The texts for C library headers, such as
/// `stdint.h` and `math.h`, have what device code needs from them. The text for `cub/cub.cuh` includes the algorithms
/// of CUB for blocks and warps.
const std::map<std::string, std::string>& stand_in_headers();

}  // namespace smemtune
