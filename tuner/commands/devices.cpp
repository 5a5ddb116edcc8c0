// smemtune devices
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

int devices_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line("devices",
                     "smemtune devices: what --device can name, and what each can hold.\n\n  smemtune devices --json");
    line.add_json();
    if (!line.parse(arguments)) return success;
    const auto devices = list_devices();
    if (line.get<bool>("json")) {
        auto list = nlohmann::json::array();
        for (const auto& [name, device] : devices) list.push_back({{"id", name}, {"device", device}});
        fmt::print("{}\n", json_text(document("devices", {{"devices", list}})));
        return success;
    }
    std::vector<std::vector<std::string>> rows{{"device", "name", "capability", "SMs", "shared/block", "shared/SM",
                                                "threads/SM", "registers/SM", "L2", "FP32 peak"}};
    for (const auto& [name, device] : devices) {
        const auto peak = peak_fp32_flops(device);
        rows.push_back(
            {name, device.name,
             device.is_host() ? "-"
                              : fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10),
             std::to_string(device.multiprocessors), fmt::format("{} KiB", device.shared_bytes_per_block / 1024),
             fmt::format("{} KiB", device.shared_bytes_per_multiprocessor / 1024),
             std::to_string(device.threads_per_multiprocessor), std::to_string(device.registers_per_multiprocessor),
             device.l2_bytes == 0 ? "-" : fmt::format("{} MiB", device.l2_bytes >> 20),
             peak == 0 ? "-" : fmt::format("{:.1f} TFLOP/s", peak / 1e12)});
    }
    fmt::print("{}", table(rows, process_environment.output_width));
    if (devices.size() == 1)
        fmt::print("\nNo GPU: none is installed, or the driver is older than CUDA {}.\n", SMEMTUNE_CUDA);
    return success;
}

}  // namespace smemtune
