// The named device models, and the table of a device's fields.
#include "templates/space/device.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "templates/space/configuration.h"
#include "templates/space/value.h"

namespace smemtune {

namespace {

constexpr std::int64_t kib = 1024;
// The greatest limit that the text for model_device() may give. Small multiples of it still fit in 64 bits.
constexpr std::int64_t greatest_limit = std::int64_t{1} << 50;

// The values that differ between compute capabilities (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"). Multiprocessors, L2 cache and clock are those of the largest common GPU of a compute
// capability.
struct NamedDevice {
    std::string_view name;
    int compute_capability, multiprocessors, threads_per_multiprocessor, blocks_per_multiprocessor;
    std::int64_t shared_bytes_per_multiprocessor, shared_bytes_per_block, l2_bytes, clock_khz;
};
constexpr std::array models{
    NamedDevice{"sm_75", 75, 72, 1024, 16, 64 * kib, 64 * kib, 6144 * kib, 1770000},
    NamedDevice{"sm_80", 80, 108, 2048, 32, 164 * kib, 163 * kib, 40960 * kib, 1410000},
    NamedDevice{"sm_86", 86, 84, 1536, 16, 100 * kib, 99 * kib, 6144 * kib, 1860000},
    NamedDevice{"sm_89", 89, 128, 1536, 24, 100 * kib, 99 * kib, 73728 * kib, 2520000},
    NamedDevice{"sm_90", 90, 132, 2048, 32, 228 * kib, 227 * kib, 51200 * kib, 1980000},
    NamedDevice{"sm_100", 100, 148, 2048, 32, 228 * kib, 227 * kib, 129024 * kib, 1965000},
    NamedDevice{"sm_120", 120, 170, 1536, 24, 100 * kib, 99 * kib, 98304 * kib, 2407000},
};

Device from_model(const NamedDevice& model) {
    return {.name = std::string(model.name),
            .compute_capability = model.compute_capability,
            .multiprocessors = model.multiprocessors,
            .warp_size = 32,
            .threads_per_block = 1024,
            .threads_per_multiprocessor = model.threads_per_multiprocessor,
            .blocks_per_multiprocessor = model.blocks_per_multiprocessor,
            .static_shared_bytes_per_block = 48 * kib,
            .shared_bytes_per_block = model.shared_bytes_per_block,
            .shared_bytes_per_multiprocessor = model.shared_bytes_per_multiprocessor,
            .shared_bytes_reserved_per_block = model.compute_capability >= 80 ? kib : 0,
            .registers_per_thread = 255,
            .registers_per_block = 65536,
            .registers_per_multiprocessor = 65536,
            .grid_x = 2147483647,
            .grid_y = 65535,
            .grid_z = 65535,
            .l2_bytes = model.l2_bytes,
            .memory_bytes = 0,
            .clock_khz = model.clock_khz};
}

Device unlimited_device() {
    Device device{.name = "limits given by hand"};
    for (const auto& field : device_fields()) device.*field.member = std::numeric_limits<std::int32_t>::max();
    device.warp_size = 32;
    device.compute_capability = 0;
    device.shared_bytes_reserved_per_block = 0;
    for (auto member : {&Device::l2_bytes, &Device::memory_bytes, &Device::clock_khz, &Device::multiprocessors}) {
        device.*member = 0;
    }
    return device;
}

// Returns the number of FP32 units of a multiprocessor (CUDA C++ Programming Guide, "Arithmetic Instructions"); 0 if
// unknown.
std::int64_t fp32_lanes(std::int64_t compute_capability) {
    if (compute_capability == 75 || compute_capability == 80) return 64;
    return compute_capability >= 86 ? 128 : 0;
}

}  // namespace

const std::vector<DeviceField>& device_fields() {
    static const std::vector<DeviceField> fields{
        {"compute_capability", &Device::compute_capability},
        {"multiprocessors", &Device::multiprocessors},
        {"warp_size", &Device::warp_size},
        {"threads_per_block", &Device::threads_per_block},
        {"threads_per_multiprocessor", &Device::threads_per_multiprocessor},
        {"blocks_per_multiprocessor", &Device::blocks_per_multiprocessor},
        {"static_shared_bytes_per_block", &Device::static_shared_bytes_per_block},
        {"shared_bytes_per_block", &Device::shared_bytes_per_block},
        {"shared_bytes_per_multiprocessor", &Device::shared_bytes_per_multiprocessor},
        {"shared_bytes_reserved_per_block", &Device::shared_bytes_reserved_per_block},
        {"registers_per_thread", &Device::registers_per_thread},
        {"registers_per_block", &Device::registers_per_block},
        {"registers_per_multiprocessor", &Device::registers_per_multiprocessor},
        {"grid_x", &Device::grid_x},
        {"grid_y", &Device::grid_y},
        {"grid_z", &Device::grid_z},
        {"l2_bytes", &Device::l2_bytes},
        {"memory_bytes", &Device::memory_bytes},
        {"clock_khz", &Device::clock_khz},
    };
    return fields;
}

Environment environment_of(const Device& device) {
    using Named = std::pair<std::string, std::int64_t Device::*>;
    static const auto named = [] {  // sorted by name, so that each insertion is at the end of the map, which is fast
        std::vector<Named> all;
        for (const auto& field : device_fields()) all.emplace_back("device." + std::string(field.name), field.member);
        std::ranges::sort(all, {}, &Named::first);
        return all;
    }();
    Environment environment;
    for (const auto& [name, member] : named) environment.emplace_hint(environment.end(), name, device.*member);
    return environment;
}

double peak_fp32_flops(const Device& device) {
    return 2.0 * static_cast<double>(device.multiprocessors * fp32_lanes(device.compute_capability)) *
           static_cast<double>(device.clock_khz) * 1e3;
}

namespace {

constexpr std::string_view checked_mark = " (checked)";

}  // namespace

Device checked(Device host) {
    host.name += checked_mark;
    return host;
}

bool is_checked(const Device& device) { return device.name.ends_with(checked_mark); }

Device model_device(std::string_view specification) {
    const auto first = specification.substr(0, specification.find(','));
    const auto model = std::ranges::find(models, first, &NamedDevice::name);
    const bool named = model != models.end();
    if (!named && first.find('=') == std::string_view::npos) {
        std::string known;
        for (const auto& each : models) known += " " + std::string(each.name);
        throw std::invalid_argument("device '" + std::string(first) + "' is not a known model; known:" + known +
                                    "; or give limits by hand, e.g. sm_90,shared_bytes_per_block=65536");
    }
    auto device = named ? from_model(*model) : unlimited_device();
    if (named) specification.remove_prefix(std::min(specification.size(), first.size() + 1));
    for (const auto& [name, value] : parse_configuration(specification).values) {
        if (is_text_value(value)) {
            throw std::invalid_argument("device: '" + name + "=" + value_text(value) +
                                        "' is not NAME=INTEGER; write for example sm_90,multiprocessors=66");
        }
        const auto field = std::ranges::find(device_fields(), name, &DeviceField::name);
        if (field == device_fields().end()) {
            std::string known;
            for (const auto& each : device_fields()) known += " " + std::string(each.name);
            throw std::invalid_argument("device limit '" + name + "' is unknown; known:" + known);
        }
        const bool divides = name == "warp_size";
        const std::int64_t least = divides ? 1 : 0;
        const std::int64_t greatest = divides ? 1024 : greatest_limit;
        if (value < least || value > greatest) {
            throw std::invalid_argument("device limit '" + name + "' is not in " + std::to_string(least) + ".." +
                                        std::to_string(greatest));
        }
        device.*field->member = value;
    }
    if (named && !specification.empty()) device.name += " with limits given by hand";
    return device;
}

}  // namespace smemtune
