#include "runtime/cuda/cuda_devices.h"

#include <cuda_runtime.h>

#include <array>

#include "runtime/backend.h"
#include "runtime/cuda/nvml.h"

namespace smemtune {

namespace {

// A kernel never causes an error here.
void expect_success(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    (void)cudaGetLastError();  // clears the error for later calls
    throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}

}  // namespace

Device cuda_device(int ordinal) {
    const auto attribute = [&](cudaDeviceAttr which) -> std::int64_t {
        int value = 0;
        expect_success(cudaDeviceGetAttribute(&value, which, ordinal), "device attribute");
        return value;
    };
    cudaDeviceProp properties{};
    expect_success(cudaGetDeviceProperties(&properties, ordinal), "device properties");
    return {.name = properties.name,
            .compute_capability = properties.major * 10 + properties.minor,
            .multiprocessors = properties.multiProcessorCount,
            .warp_size = properties.warpSize,
            .threads_per_block = properties.maxThreadsPerBlock,
            .threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor,
            .blocks_per_multiprocessor = properties.maxBlocksPerMultiProcessor,
            .static_shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlock),
            .shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
            .shared_bytes_per_multiprocessor = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
            .shared_bytes_reserved_per_block = static_cast<std::int64_t>(properties.reservedSharedMemPerBlock),
            .registers_per_thread = 255,  // of every architecture since Kepler; the driver does not report it
            .registers_per_block = properties.regsPerBlock,
            .registers_per_multiprocessor = properties.regsPerMultiprocessor,
            .grid_x = properties.maxGridSize[0],
            .grid_y = properties.maxGridSize[1],
            .grid_z = properties.maxGridSize[2],
            .l2_bytes = properties.l2CacheSize,
            .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem >> 30U << 30U),  // GiB: in the name
            .clock_khz = attribute(cudaDevAttrClockRate)};
}

std::string cuda_bus_id(int ordinal) {
    std::array<char, 32> text{};
    expect_success(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal), "bus id");
    return text.data();
}

std::vector<Device> cuda_devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();  // no driver or no suitable one: no GPU; clears the error
        return {};
    }
    std::vector<Device> devices;
    devices.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) devices.push_back(cuda_device(i));
    return devices;
}

std::string cuda_versions() {
    int driver = 0;
    int runtime = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&runtime) != cudaSuccess) return "none";
    const auto name = nvidia_driver();
    return "driver " + (name.empty() ? "" : name + ", CUDA ") + std::to_string(driver) + ", runtime " +
           std::to_string(runtime);
}

}  // namespace smemtune
