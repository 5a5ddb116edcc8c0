// Finds functions of the CUDA driver at run time, because every binary must start on machines without a driver.
#pragma once

namespace smemtune {

/// The address of a function of CUDA 12.0 or earlier; null if there is no driver, or if the driver lacks the function.
/// `name` has no version suffix: `cuMemAlloc`, not `cuMemAlloc_v2`.
void* driver_function_address(const char* name);

template <class Function>
Function* driver_function(const char* name) {
    return reinterpret_cast<Function*>(driver_function_address(name));
}

}  // namespace smemtune
