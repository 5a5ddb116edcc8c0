// Functions of the CUDA driver, found at run time: every binary must start where there is no driver.
#pragma once

namespace smemtune {

/// The address of a function of CUDA 12.0 or earlier; null if there is no driver, or if it lacks the function. `name`
/// is without the suffix of its version: `cuMemAlloc`.
void* driver_function_address(const char* name);

template <class Function>
Function* driver_function(const char* name) {
    return reinterpret_cast<Function*>(driver_function_address(name));
}

}  // namespace smemtune
