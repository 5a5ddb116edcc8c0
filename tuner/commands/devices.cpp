// smemtune devices: lists the devices of this machine and their limits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

std::vector<std::string> row_of(const ListedDevice& listed) {
    const auto& [name, device] = listed;
    const auto capability = fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10);
    const auto peak = peak_fp32_flops(device);
    return {name,
            device.name,
            device.is_host() ? "-" : capability,
            std::to_string(device.multiprocessors),
            fmt::format("{} KiB", device.shared_bytes_per_block / 1024),
            count_text(static_cast<std::uint64_t>(device.threads_per_multiprocessor)),
            count_text(static_cast<std::uint64_t>(device.registers_per_multiprocessor)),
            device.l2_bytes == 0 ? "-" : fmt::format("{} MiB", device.l2_bytes >> 20),
            peak == 0 ? "-" : fmt::format("{:.1f} TFLOP/s", peak / 1e12)};
}

}  // namespace

int devices_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(process_environment,
                     {.name = "devices",
                      .summary = "List the devices that --device can name, and their limits.",
                      .examples = {{"smemtune devices --json", "Every limit, under the names that manifests use."}},
                      .columns = {{"CC", "compute capability"},
                                  {"SMs", "multiprocessors; of the host, the CPU's hardware threads"},
                                  {"shared/block", "the most shared memory that a block can have"},
                                  {"threads/SM", "the most threads that are resident on a multiprocessor"},
                                  {"regs/SM", "registers of a multiprocessor"},
                                  {"FP32 peak", "two operations per lane and cycle at the highest clock"}}});
    line.add_json();
    if (!line.parse(arguments)) return success;
    const auto devices = list_devices();
    if (line.flag("json")) {
        auto list = nlohmann::json::array();
        for (const auto& [name, device] : devices) list.push_back({{"id", name}, {"device", device}});
        fmt::print("{}\n", json_text(document("devices", {{"devices", list}})));
        return success;
    }
    std::vector<std::vector<std::string>> rows{
        {"device", "name", "CC", "SMs", "shared/block", "threads/SM", "regs/SM", "L2", "FP32 peak"}};
    for (const auto& each : devices) rows.push_back(row_of(each));
    fmt::print("{}\n{}", table(rows, process_environment.output_width),
               wrap("host: the CPU runs the kernels to check them. It has the limits of compute capability 9.0 for "
                    "shared memory, threads and registers, so that a configuration of a GPU is valid there too.",
                    process_environment.help_columns));
    if (devices.size() == 1) {
        fmt::print("No GPU: none is installed, or the driver is older than CUDA {}.\n", SMEMTUNE_CUDA);
    }
    return success;
}

}  // namespace smemtune
