// Measures how long the runtime takes to choose a configuration for a shape that nobody tuned. It uses the portfolio of
// a database and the device that the portfolio was measured on. It loads and launches nothing, so it needs no GPU. With
// DEVICE, also measures a whole fetch of such a shape there, most of whose kernels are loaded already. Prints members
// of a JSON object for bench/record.sh.
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
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "util/statistics.h"
#include "util/stopwatch.h"

namespace {

using namespace smemtune;

Problem random_problem(std::mt19937& random) {
    std::uniform_real_distribution<double> exponent(4, 13.5);  // 16 to 11,585
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
    const auto first_us = choose_us();  // reads the portfolio
    std::vector<double> times;
    for (int i = 0; i < shapes; ++i) times.push_back(choose_us());
    fmt::print("\"device\": \"{}\", \"shapes\": {}, \"first_us\": {:.0f}, \"choose_us\": {:.2f}\n", device.name, shapes,
               first_us, median(times));
}

void measure_fetches(const std::filesystem::path& database, int shapes, const std::string& device) {
    Runtime runtime({.database = database, .system_databases = "", .device = device});
    std::mt19937 random(2);
    const auto fetch_us = [&] {
        const auto problem = random_problem(random);
        const auto begin = std::chrono::steady_clock::now();
        (void)runtime.fetch(problem);
        return seconds_since(begin) * 1e6;
    };
    for (int i = 0; i < shapes; ++i) fetch_us();  // loads most of the members
    std::vector<double> times;
    for (int i = 0; i < shapes; ++i) times.push_back(fetch_us());
    fmt::print(", \"fetch_us\": {:.2f}, \"fetch_us_of_9_in_10\": {:.2f}\n", median(times), quantile(times, 0.9));
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) throw std::invalid_argument("usage: choose_bench DATABASE [SHAPES [DEVICE]]");
    const auto shapes = argc > 2 ? std::atoi(argv[2]) : 2000;
    if (shapes < 1) throw std::invalid_argument("SHAPES is not a number from 1 on");
    measure(argv[1], shapes);
    if (argc > 3) measure_fetches(argv[1], shapes, argv[3]);
} catch (const std::exception& error) {
    std::cerr << "choose_bench: " << error.what() << '\n';
    return 1;
}
