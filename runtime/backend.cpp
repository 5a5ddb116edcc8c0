#include "runtime/backend.h"

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/host/host_backend.h"

namespace smemtune {

void LoadedKernel::fill_symbol(StreamHandle /*stream*/, const SymbolArgument& symbol, const void* /*from*/) const {
    must_have_room(symbol, 0);
}

void must_have_room(const SymbolArgument& symbol, std::size_t bytes) {
    if (bytes >= static_cast<std::size_t>(symbol.bytes)) return;
    if (bytes == 0) {
        throw LaunchError("the manifest names the symbol '" + symbol.name +
                          "', but the kernel's code has no array of this name outside namespaces");
    }
    throw LaunchError("the kernel's array '" + symbol.name + "' has " + std::to_string(bytes) +
                      " bytes, but its argument has " + std::to_string(symbol.bytes) +
                      "; make the array longer, or tune a smaller size");
}

std::vector<ListedDevice> list_devices() {
    std::vector<ListedDevice> devices;
    for (auto& device : cuda_devices()) devices.push_back({std::to_string(devices.size()), std::move(device)});
    devices.push_back({"host", host_device()});
    return devices;
}

ListedDevice find_device(const std::string& name) {
    auto devices = list_devices();
    if (name == "auto") return devices.front();
    std::string known;
    for (auto& each : devices) {
        if (each.name == name) return each;
        known += (known.empty() ? "" : ", ") + each.name;
    }
    const auto* why = devices.size() == 1 ? " (no GPU, or no driver that this CUDA runtime can use)" : "";
    throw DeviceError("there is no device '" + name + "'; there is: " + known + ", auto" + why);
}

std::string platform_versions(const Device& device) { return device.is_host() ? "" : cuda_versions(); }

std::unique_ptr<Backend> open_backend(const std::string& name, const BackendOptions& options) {
    const auto found = find_device(name);
    return found.name == "host" ? open_host(options) : open_cuda(std::stoi(found.name));
}

}  // namespace smemtune
