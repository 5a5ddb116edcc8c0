// Measures how long the runtime takes to choose a configuration for a shape that nobody tuned. Also measures how long a
// whole fetch takes once the portfolio's kernels are loaded. DATABASE must have one device and a portfolio for it with
// the members' machine code, like a shipped database. No GPU is needed: a fake backend reports the device's properties,
// accepts the code and runs nothing. If DEVICE is given, fetches on that device are measured too. Prints members of a
// JSON object for bench/record.sh.
//
//     choose_bench DATABASE [SHAPES [DEVICE]]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/inspector.h"
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "util/statistics.h"
#include "util/stopwatch.h"

namespace {

using namespace smemtune;

Problem random_problem(std::mt19937& random) {
    std::uniform_real_distribution<double> exponent(4, 13.5);  // extents from 16 to 11,585
    const auto extent = [&] { return static_cast<std::int64_t>(std::exp2(exponent(random))); };
    const auto m = extent();
    const auto n = extent();
    return gemm(m, n, extent());
}

void measure(const std::filesystem::path& database, int shapes) {
    const Store store(database, Store::Access::read);
    const auto& templates = builtin_templates();
    const auto devices = store.devices();
    if (devices.empty()) throw std::invalid_argument(database.string() + " has no device");
    const auto& device = devices.front().second;
    PredictorCache predictors;
    std::mt19937 random(1);
    const auto choose_us = [&] {
        const auto problem = random_problem(random);
        const auto begin = std::chrono::steady_clock::now();
        Candidates candidates(problem, device, &store, templates, "", {}, StoredTemplates::any, &predictors);
        const auto chosen = candidates.next();
        const auto us = seconds_since(begin) * 1e6;
        if (!chosen || chosen->choice.match != Match::predicted) throw std::runtime_error("nothing is predicted");
        return us;
    };
    const auto first_us = choose_us();  // this call also reads the portfolio
    std::vector<double> times;
    for (int i = 0; i < shapes; ++i) times.push_back(choose_us());
    fmt::print("\"device\": \"{}\", \"shapes\": {}, \"first_us\": {:.0f}, \"choose_us\": {:.2f}\n", device.name, shapes,
               first_us, median(times));
}

// Reports the properties of a GPU, accepts any machine code, and computes nothing.
class FactsOnly : public Backend {
public:
    explicit FactsOnly(Device device) : device_(std::move(device)) {}
    [[nodiscard]] const Device& device() const override { return device_; }
    std::unique_ptr<LoadedKernel> load(const Binary& /*binary*/, std::int64_t /*dynamic_shared_bytes*/) override {
        return std::make_unique<Loaded>();
    }
    std::unique_ptr<Memory> allocate(std::size_t bytes) override { return std::make_unique<Claimed>(bytes); }
    std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) override { return allocate(bytes); }
    void fill_with_zeros(std::byte* /*at*/, std::size_t /*bytes*/, StreamHandle /*stream*/) override {}
    void copy_to_device(Memory& /*to*/, std::span<const std::byte> /*from*/) override {}
    void copy_to_host(std::span<std::byte> /*to*/, const Memory& /*from*/) override {}
    std::size_t free_bytes() override { return std::size_t{1} << 40; }
    void synchronize() override {}
    double time_us(std::span<const Call> /*calls*/) override { return 0; }

private:
    struct Loaded : LoadedKernel {
        void launch(StreamHandle /*stream*/, const Launch& /*launch*/, void* const* /*arguments*/) const override {}
    };
    struct Claimed : Memory {
        explicit Claimed(std::size_t its_bytes) : bytes(its_bytes) {}
        [[nodiscard]] std::byte* data() const override { return nullptr; }
        [[nodiscard]] std::size_t size() const override { return bytes; }
        std::size_t bytes;
    };
    Device device_;
};

void measure_fetches(Runtime& runtime, int shapes, const std::string& prefix) {
    std::mt19937 random(2);
    const auto fetch_us = [&] {
        const auto problem = random_problem(random);
        const auto begin = std::chrono::steady_clock::now();
        (void)runtime.fetch(problem);
        return seconds_since(begin) * 1e6;
    };
    for (int i = 0; i < shapes; ++i) fetch_us();  // these fetches load most of the portfolio's members
    std::vector<double> times;
    for (int i = 0; i < shapes; ++i) times.push_back(fetch_us());
    fmt::print(", \"{0}us\": {1:.2f}, \"{0}us_of_9_in_10\": {2:.2f}\n", prefix, median(times), quantile(times, 0.9));
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) throw std::invalid_argument("usage: choose_bench DATABASE [SHAPES [DEVICE]]");
    const auto shapes = argc > 2 ? std::atoi(argv[2]) : 2000;
    if (shapes < 1) throw std::invalid_argument("SHAPES is not a number from 1 on");
    const std::filesystem::path database = argv[1];
    measure(database, shapes);
    // Compiling at run time is forbidden, so every kernel comes from stored machine code.
    const auto device = Store(database, Store::Access::read).devices().front().second;
    auto without_gpu = RuntimeInspector::on(std::make_shared<FactsOnly>(device),
                                            {.database = database, .system_databases = "", .trust = {.jit = false}});
    measure_fetches(without_gpu, shapes, "fetch_without_gpu_");
    if (argc > 3) {
        Runtime there({.database = database, .system_databases = "", .device = argv[3]});
        measure_fetches(there, shapes, "fetch_");
    }
} catch (const std::exception& error) {
    std::cerr << "choose_bench: " << error.what() << '\n';
    return 1;
}
