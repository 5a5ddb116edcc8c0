// Measures the overhead of smemtune over the CUDA driver on a GPU:
// - the time of a launch, compared with cuLaunchKernel of the same machine code, in alternating batches;
// - the time of a warm fetch, for several numbers of threads;
// - the time from the start of a process to its first correct product: through the driver, through smemtune with stored
//   machine code, through smemtune with a compile, and through cuBLAS.
// Prints members of a JSON object for bench/record.sh.
//
//     launch_bench [DEVICE]
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "bench/driver_product.h"
#include "bench/stored_winners.h"
#include "runtime/backend.h"
#include "runtime/cuda/toolkit_library.h"
#include "runtime/runtime.h"
#include "util/dynamic_library.h"
#include "util/process.h"
#include "util/statistics.h"
#include "util/stopwatch.h"
#include "util/temporary_folder.h"

namespace {

using namespace smemtune;

constexpr int size = 64;
const Problem problem = gemm(size, size, size);

// Returns the median with its 95 % confidence interval, by order statistics.
std::string with_interval(const std::vector<double>& samples) {
    const auto margin = 0.98 / std::sqrt(static_cast<double>(samples.size()));
    return fmt::format("[{:.1f}, {:.1f}, {:.1f}]", median(samples), quantile(samples, std::max(0.0, 0.5 - margin)),
                       quantile(samples, std::min(1.0, 0.5 + margin)));
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result;
    std::ranges::transform(a, b, std::back_inserter(result), std::minus());
    return result;
}

struct Way {
    const char* name;
    std::function<void(int)> launch_times;
    std::vector<double> times{};
};

// Measures all ways to launch a kernel, or to compute a product, in rounds, after two rounds of warm-up. Each round
// begins with a different way.
void measure(std::vector<Way>& ways, int rounds, const std::function<double(Way&)>& once) {
    for (int round = -2; round < rounds; ++round) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
            auto& way = ways[(i + static_cast<std::size_t>(round + 2)) % ways.size()];
            const auto time = once(way);
            if (round >= 0) way.times.push_back(time);
        }
    }
}

void print(const std::vector<Way>& ways, const char* unit) {
    for (const auto& way : ways) {
        fmt::print("    \"{}\": {{\"{}\": {}, \"more_than_{}\": {}}}{}\n", way.name, unit, with_interval(way.times),
                   ways.front().name, with_interval(differences(way.times, ways.front().times)),
                   &way == &ways.back() ? "" : ",");
    }
}

void compare_launches(const Kernel& kernel, const DriverKernel& driver) {
    constexpr int launches = 400;  // far fewer than the driver's queue takes, so that no launch waits for the device
    constexpr int rounds = 600;
    DeviceProduct product(size);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    auto arguments = product.arguments();
    auto addresses = arguments.addresses();
    const auto by_driver = [&](int times) {
        for (int i = 0; i < times; ++i) driver.launch(stream, addresses.data());
    };
    std::vector<Way> ways{{"driver", by_driver},
                          {"driver_again", by_driver},
                          {"driver_packed",
                           [&](int times) {
                               for (int i = 0; i < times; ++i) driver.launch_packed(stream, arguments);
                           }},
                          {"smemtune_operands",
                           [&](int times) {
                               const GemmOperands operands{.a = product.a(), .b = product.b(), .c = product.c()};
                               for (int i = 0; i < times; ++i) kernel.launch(stream, operands);
                           }},
                          {"smemtune_arguments", [&](int times) {
                               for (int i = 0; i < times; ++i) kernel.launch(stream, addresses);
                           }}};
    for (auto& way : ways) {
        way.launch_times(1);
        check(cudaStreamSynchronize(stream));
        product.require_right();
    }
    measure(ways, rounds, [&](Way& way) {
        const auto begin = std::chrono::steady_clock::now();
        way.launch_times(launches);
        const auto ns = seconds_since(begin) * 1e9 / launches;
        check(cudaStreamSynchronize(stream));
        return ns;
    });
    fmt::print("  \"launch\": {{\"rounds\": {}, \"launches_per_round\": {},\n", rounds, launches);
    print(ways, "ns");
    fmt::print("  }},\n");
}

// Returns the nanoseconds of one fetch while `threads` threads fetch at the same time: the median over the threads.
double warm_fetch_ns(Runtime& runtime, unsigned threads) {
    constexpr int calls = 200'000;
    std::vector<double> times(threads);
    std::vector<std::jthread> running;
    std::barrier all_run(static_cast<std::ptrdiff_t>(threads));
    for (auto& its_time : times) {
        running.emplace_back([&] {
            (void)runtime.fetch(problem);
            all_run.arrive_and_wait();
            const auto begin = std::chrono::steady_clock::now();
            for (int call = 0; call < calls; ++call) (void)runtime.fetch(problem);
            its_time = seconds_since(begin) * 1e9 / calls;
        });
    }
    running.clear();
    return median(times);
}

void measure_fetches(Runtime& runtime) {
    fmt::print("  \"warm_fetch_ns\": {{");
    for (const unsigned threads : {1U, 2U, 4U, 8U, 16U}) {
        std::vector<double> times;
        for (int i = 0; i < 7; ++i) times.push_back(warm_fetch_ns(runtime, threads));
        fmt::print("\"{}\": [{:.1f}, {:.1f}]{}", threads, quantile(times, 0), median(times), threads == 16 ? "" : ", ");
    }
    fmt::print("}},\n");
}

// Starts this program in new processes, each of which computes one product, and measures how long they run. A mode is a
// way to compute the product, given as the arguments of the process.
void compare_starts(const std::string& program, const std::vector<std::vector<std::string>>& modes) {
    constexpr int rounds = 20;
    std::vector<Way> ways;
    for (const auto& mode : modes) ways.push_back({mode.front().c_str() + 2, {}});  // the mode's name without "--"
    measure(ways, rounds, [&](Way& way) {
        auto command = modes[static_cast<std::size_t>(&way - ways.data())];
        command.insert(command.begin(), program);
        const auto begin = std::chrono::steady_clock::now();
        const auto result = run_process(command, std::chrono::seconds(30));
        if (result.exit_code != 0) throw std::runtime_error(result.output);
        return seconds_since(begin) * 1e3;
    });
    fmt::print("  \"process_to_first_product\": {{\"rounds\": {},\n", rounds);
    print(ways, "ms");
    fmt::print("  }}\n");
}

void first_product_by_driver(const std::string& file, const std::string& entry, const DriverKernel::Size& its_size) {
    std::ifstream in(file, std::ios::binary);
    const std::string code(std::istreambuf_iterator<char>(in), {});
    const DriverKernel kernel(code.data(), entry, its_size);
    DeviceProduct product(size);
    auto arguments = product.arguments();
    kernel.launch(nullptr, arguments.addresses().data());
    product.require_right();
}

// Whether this process has loaded a library with `name` in its path.
bool is_mapped(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(name) != std::string::npos) return true;
    }
    return false;
}

// If `database` is empty, the kernel is compiled.
void first_product_by_smemtune(const std::string& database, const std::string& device) {
    Runtime runtime({.database = database, .device = device});
    const auto kernel = runtime.fetch(problem);
    const bool stored = !database.empty();
    if ((kernel.choice().match == Match::exact) != stored) throw std::runtime_error("another match than expected");
    DeviceProduct product(size);
    kernel.launch(nullptr, {.a = product.a(), .b = product.b(), .c = product.c()});
    product.require_right();
    if (is_mapped("libnvrtc") == stored)
        throw std::runtime_error("NVRTC must be loaded if the kernel is compiled, and only then");
}

void first_product_by_cublas() {
    const DynamicLibrary cublas(toolkit_library_names("libcublas"));
    int (*create)(void**) = nullptr;
    int (*sgemm)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
                 float*, int) = nullptr;
    if (!cublas.find("cublasCreate_v2", create) || !cublas.find("cublasSgemm_v2", sgemm)) {
        throw std::runtime_error(cublas.error());
    }
    void* handle = nullptr;
    DeviceProduct product(size);
    const float one = 1;
    const float zero = 0;
    if (create(&handle) != 0 || sgemm(handle, 0, 0, size, size, size, &one, product.b(), size, product.a(), size, &zero,
                                      product.c(), size) != 0) {
        throw std::runtime_error("cuBLAS refuses");
    }
    product.require_right();
}

void measure_all(const std::string& program, const std::string& device_name) {
    const auto device = find_device(device_name).device;
    const auto kernel = compile_builtin("tiled", "TILE_WIDTH=16", problem, *make_compiler(device));
    const TemporaryFolder folder;
    const auto database = (folder / "tuning.db").string();
    store_winners(database, device, kernel, std::span(&problem, 1));
    const auto cubin = (folder / "kernel.cubin").string();
    std::ofstream(cubin, std::ios::binary)
        .write(reinterpret_cast<const char*>(kernel.binary.code.data()),
               static_cast<std::streamsize>(kernel.binary.code.size()));
    const auto launch = launch_of(kernel.kernel_template, kernel.configuration, problem, device);
    if (launch.dynamic_shared_bytes != 0 || !launch.runtime_arguments.empty())
        throw std::logic_error("the kernel needs more than DriverKernel passes");
    DriverKernel::Size driver_size;
    std::ranges::copy(launch.grid, driver_size.grid.begin());
    std::ranges::copy(launch.block, driver_size.block.begin());

    fmt::print("  \"figures\": \"median and its 95 % confidence interval; of a warm fetch: least and median of 7\",\n");
    fmt::print("  \"device\": \"{}\", \"platform\": \"{}\",\n", device.name, platform_versions(device));
    Runtime runtime({.database = database, .device = device_name});
    compare_launches(runtime.fetch(problem), {kernel.binary.code.data(), kernel.binary.entry, driver_size});
    measure_fetches(runtime);
    std::vector<std::string> by_driver{"--driver", cubin, kernel.binary.entry};
    for (const auto& sizes : {driver_size.grid, driver_size.block}) {
        for (const auto each : sizes) by_driver.push_back(std::to_string(each));
    }
    std::vector<std::vector<std::string>> modes{
        by_driver, {"--smemtune", database, device_name}, {"--jit", device_name}};
    if (DynamicLibrary(toolkit_library_names("libcublas"))) modes.push_back({"--cublas"});
    compare_starts(program, modes);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    const std::string first = argc > 1 ? arguments[1] : "0";
    if (first == "--driver") {
        DriverKernel::Size driver_size;
        for (std::size_t i = 0; i < 3; ++i) {
            driver_size.grid[i] = static_cast<unsigned>(std::stoul(arguments.at(4 + i)));
            driver_size.block[i] = static_cast<unsigned>(std::stoul(arguments.at(7 + i)));
        }
        first_product_by_driver(arguments.at(2), arguments.at(3), driver_size);
    } else if (first == "--smemtune") {
        first_product_by_smemtune(arguments.at(2), arguments.at(3));
    } else if (first == "--jit") {
        first_product_by_smemtune({}, arguments.at(2));
    } else if (first == "--cublas") {
        first_product_by_cublas();
    } else {
        measure_all(std::filesystem::canonical("/proc/self/exe"), first);
    }
}
