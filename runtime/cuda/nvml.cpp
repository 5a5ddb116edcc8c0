#include "runtime/cuda/nvml.h"

#include <dlfcn.h>

#include <array>

namespace smemtune {

namespace {

// The few functions used, declared here: nvml.h is not in every toolkit installation, and its ABI is stable.
using Init = int (*)();
using HandleByBusId = int (*)(const char*, void**);
using DriverVersion = int (*)(char*, unsigned);
using ClockInfo = int (*)(void*, int, unsigned*);
using TotalEnergy = int (*)(void*, unsigned long long*);
constexpr const char* nvml_library = "libnvidia-ml.so.1";
constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;

template <class Function>
Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::string nvidia_driver() {
    auto* library = dlopen(nvml_library, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    const auto init = find<Init>(library, "nvmlInit_v2");
    const auto version = find<DriverVersion>(library, "nvmlSystemGetDriverVersion");
    std::array<char, 80> text{};
    const bool known = init != nullptr && version != nullptr && init() == nvml_success &&
                       version(text.data(), static_cast<unsigned>(text.size())) == nvml_success;
    dlclose(library);
    return known ? text.data() : "";
}

GpuSensors::GpuSensors(const std::string& bus_id) : library_(dlopen(nvml_library, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<Init>(library_, "nvmlInit_v2");
    const auto handle = find<HandleByBusId>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || handle == nullptr || init() != nvml_success ||
        handle(bus_id.c_str(), &device_) != nvml_success) {
        device_ = nullptr;
    }
}

GpuSensors::~GpuSensors() {
    if (library_ != nullptr) dlclose(library_);
}

std::int64_t GpuSensors::clock_khz() const {
    if (device_ == nullptr) return 0;
    const auto info = find<ClockInfo>(library_, "nvmlDeviceGetClockInfo");
    unsigned megahertz = 0;
    if (info == nullptr || info(device_, nvml_clock_sm, &megahertz) != nvml_success) return 0;
    return std::int64_t{megahertz} * 1000;
}

std::optional<std::uint64_t> GpuSensors::millijoules() const {
    if (device_ == nullptr) return std::nullopt;
    const auto energy = find<TotalEnergy>(library_, "nvmlDeviceGetTotalEnergyConsumption");
    unsigned long long total = 0;
    if (energy == nullptr || energy(device_, &total) != nvml_success) return std::nullopt;
    return total;
}

}  // namespace smemtune
