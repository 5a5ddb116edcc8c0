#include "runtime/cuda/nvml.h"

#include <array>

namespace smemtune {

namespace {

// The few functions of NVML that are used are declared here, because not every installation of the toolkit has nvml.h.
// Their ABI is stable.
using Init = int();
using HandleByBusId = int(const char*, void**);
using DriverVersion = int(char*, unsigned);
using ClockInfo = int(void*, int, unsigned*);
using TotalEnergy = int(void*, unsigned long long*);
constexpr const char* nvml_library = "libnvidia-ml.so.1";
constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;

}  // namespace

std::string nvidia_driver() {
    const DynamicLibrary library({nvml_library});
    Init* init = nullptr;
    DriverVersion* version = nullptr;
    std::array<char, 80> text{};
    const bool known = library.find("nvmlInit_v2", init) && library.find("nvmlSystemGetDriverVersion", version) &&
                       init() == nvml_success &&
                       version(text.data(), static_cast<unsigned>(text.size())) == nvml_success;
    return known ? text.data() : "";
}

GpuSensors::GpuSensors(const std::string& bus_id) : library_({nvml_library}) {
    Init* init = nullptr;
    HandleByBusId* handle = nullptr;
    if (!library_.find("nvmlInit_v2", init) || !library_.find("nvmlDeviceGetHandleByPciBusId_v2", handle)) return;
    if (init() != nvml_success || handle(bus_id.c_str(), &device_) != nvml_success) device_ = nullptr;
}

std::int64_t GpuSensors::clock_khz() const {
    if (device_ == nullptr) return 0;
    ClockInfo* info = nullptr;
    unsigned megahertz = 0;
    if (!library_.find("nvmlDeviceGetClockInfo", info) || info(device_, nvml_clock_sm, &megahertz) != nvml_success)
        return 0;
    return std::int64_t{megahertz} * 1000;
}

std::optional<std::uint64_t> GpuSensors::millijoules() const {
    if (device_ == nullptr) return std::nullopt;
    TotalEnergy* energy = nullptr;
    unsigned long long total = 0;
    if (!library_.find("nvmlDeviceGetTotalEnergyConsumption", energy) || energy(device_, &total) != nvml_success)
        return std::nullopt;
    return total;
}

}  // namespace smemtune
