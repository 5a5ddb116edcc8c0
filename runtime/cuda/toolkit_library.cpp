#include "runtime/cuda/toolkit_library.h"

namespace smemtune {

std::vector<std::string> toolkit_library_names(const std::string& library) {
    const std::string versioned = library + ".so." + std::to_string(CUDART_MAJOR);
    return {versioned, std::string(SMEMTUNE_CUDA_LIBRARIES) + "/" + versioned, "/usr/local/cuda/lib64/" + versioned,
            library + ".so"};
}

}  // namespace smemtune
