#include "runtime/cuda/driver_function.h"

#include <cuda_runtime_api.h>

namespace smemtune {

void* driver_function_address(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const auto result = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    if (result != cudaSuccess) (void)cudaGetLastError();  // clears the error, which later calls would report again
    return result == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

}  // namespace smemtune
