#include "runtime/cuda/cuda_devices.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <array>

#include "runtime/backend.h"
#include "runtime/cuda/driver_function.h"
#include "runtime/cuda/nvml.h"

namespace smemtune {

namespace {

// Throws DeviceError on failure, and never DeviceFault: this file launches no kernels that could cause the failure.
void expect_success(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    (void)cudaGetLastError();  // clears the error, which later calls would report again
    throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}

// Looks up a function of the driver. This file asks the driver for a GPU's name and memory. cudaGetDeviceProperties
// reports both, too, but takes milliseconds.
template <class Function>
Function* required(const char* name) {
    auto* const function = driver_function<Function>(name);
    if (function == nullptr) throw DeviceError(std::string("the CUDA driver has no ") + name);
    return function;
}

void expect_success(CUresult result, const char* what) {
    if (result != CUDA_SUCCESS) {
        throw DeviceError(std::string(what) + ": error " + std::to_string(result) + " of the CUDA driver");
    }
}

std::string cuda_name(int ordinal) {
    auto* const name = required<decltype(cuDeviceGetName)>("cuDeviceGetName");
    std::array<char, 256> text{};
    expect_success(name(text.data(), static_cast<int>(text.size()), ordinal), "device name");
    return text.data();
}

std::int64_t cuda_memory_bytes(int ordinal) {
    auto* const total = required<decltype(cuDeviceTotalMem)>("cuDeviceTotalMem");
    std::size_t bytes = 0;
    expect_success(total(&bytes, ordinal), "device memory");
    return static_cast<std::int64_t>(bytes);
}

Device described_device(int ordinal) {
    const auto attribute = [&](cudaDeviceAttr which) -> std::int64_t {
        int value = 0;
        expect_success(cudaDeviceGetAttribute(&value, which, ordinal), "device attribute");
        return value;
    };
    return {.name = cuda_name(ordinal),
            .compute_capability =
                attribute(cudaDevAttrComputeCapabilityMajor) * 10 + attribute(cudaDevAttrComputeCapabilityMinor),
            .multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
            .warp_size = attribute(cudaDevAttrWarpSize),
            .threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock),
            .threads_per_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
            .blocks_per_multiprocessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
            .static_shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock),
            .shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            .shared_bytes_per_multiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            .shared_bytes_reserved_per_block = attribute(cudaDevAttrReservedSharedMemoryPerBlock),
            .registers_per_thread = 255,  // the limit of every architecture since Kepler; the driver does not report it
            .registers_per_block = attribute(cudaDevAttrMaxRegistersPerBlock),
            .registers_per_multiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
            .grid_x = attribute(cudaDevAttrMaxGridDimX),
            .grid_y = attribute(cudaDevAttrMaxGridDimY),
            .grid_z = attribute(cudaDevAttrMaxGridDimZ),
            .l2_bytes = attribute(cudaDevAttrL2CacheSize),
            .memory_bytes = cuda_memory_bytes(ordinal) >> 30U << 30U,  // rounded down to whole GiB
            .clock_khz = attribute(cudaDevAttrClockRate)};
}

}  // namespace

std::string cuda_bus_id(int ordinal) {
    std::array<char, 32> text{};
    expect_success(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal), "bus id");
    return text.data();
}

std::vector<Device> cuda_devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();  // clears the error; without a suitable driver there is no GPU
        return {};
    }
    // The driver is asked only once, because the GPUs of a process never change and the driver takes milliseconds to
    // report their clocks.
    static const auto devices = [&] {
        std::vector<Device> all;
        all.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) all.push_back(described_device(i));
        return all;
    }();
    return devices;
}

Device cuda_device(int ordinal) { return cuda_devices().at(static_cast<std::size_t>(ordinal)); }

std::string cuda_versions() {
    int driver = 0;
    int runtime = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&runtime) != cudaSuccess) return "none";
    const auto name = nvidia_driver();
    return "driver " + (name.empty() ? "" : name + ", CUDA ") + std::to_string(driver) + ", runtime " +
           std::to_string(runtime);
}

}  // namespace smemtune
