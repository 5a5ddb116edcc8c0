// Measures how long an application's first fetch of a problem takes, for several numbers of stored problems. No fetch
// compiles, because all problems share the stored machine code of one kernel. Prints members of a JSON object for
// bench/record.sh.
//
//     fetch_bench [PROBLEMS...]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "bench/stored_winners.h"
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "util/statistics.h"
#include "util/stopwatch.h"
#include "util/temporary_folder.h"

namespace {

using namespace smemtune;

// Returns problem number i. The problems are distinct. Their M and N lie between 39 and about 7,200, and are spread
// roughly evenly on a logarithmic scale.
Problem problem_of(int i) {
    const auto extent = [&](double step) {
        return 32 + std::llround(std::exp2(10 * std::fmod(i * step, 1.0)) * 7) + i % 3;
    };
    return gemm(extent(0.754877666), extent(0.569840291), 1000 + i);
}

void fill(const std::filesystem::path& path, const Device& device, const Compiler& compiler, int count) {
    std::vector<Problem> problems;
    for (int i = 0; i < count; ++i) problems.push_back(problem_of(i));
    store_winners(path, device, compile_builtin("naive", "BLOCK_X=64,BLOCK_Y=1", problem_of(0), compiler), problems);
}

struct Round {
    double first_us = 0;    // time to construct a Runtime, load the code and fetch a problem that is not stored
    double exact_us = 0;    // time of one more fetch, of a stored problem
    double nearest_us = 0;  // median time of further fetches, of problems that are not stored
};

Round measure(const std::filesystem::path& database, int count, int round) {
    const auto fetch_us = [](Runtime& runtime, const Problem& problem, Match expected) {
        const auto begin = std::chrono::steady_clock::now();
        const auto match = runtime.fetch(problem).choice().match;
        const auto us = seconds_since(begin) * 1e6;
        if (match != expected) throw std::runtime_error("another match than expected");
        return us;
    };
    const auto begin = std::chrono::steady_clock::now();
    Runtime runtime({.database = database, .device = "host"});
    (void)runtime.fetch(gemm(3200, 1300, 999));
    Round times{.first_us = seconds_since(begin) * 1e6};
    times.exact_us = fetch_us(runtime, problem_of(round * 7919 % count), Match::exact);
    std::vector<double> nearest;
    for (int i = 0; i < 100; ++i) {
        nearest.push_back(fetch_us(runtime, gemm(100 + i * 31, 3000 - i * 17, 999), Match::nearest));
    }
    times.nearest_us = median(nearest);
    return times;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<int> counts;
    for (int i = 1; i < argc; ++i) counts.push_back(std::stoi(argv[i]));
    if (counts.empty()) counts = {1, 1'000, 100'000};
    const TemporaryFolder folder;
    const auto path = [&](int count) { return folder / (std::to_string(count) + ".db"); };
    const auto device = open_backend("host")->device();
    const auto compiler = make_compiler(device, {});
    for (const int count : counts) fill(path(count), device, *compiler, count);
    std::vector<std::vector<Round>> rounds(counts.size());
    constexpr int all_rounds = 75;
    for (int round = 0; round < all_rounds; ++round) {  // databases alternate, so that other load affects all
        for (std::size_t i = 0; i < counts.size(); ++i) {
            rounds[i].push_back(measure(path(counts[i]), counts[i], round));
        }
    }
    fmt::print("  \"rounds\": {}, \"us\": \"least and median of the rounds\",\n  \"stored_problems\": {{\n",
               all_rounds);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto figures = [&](double Round::*time) {
            std::vector<double> all;
            for (const auto& round : rounds[i]) all.push_back(round.*time);
            return fmt::format("[{:.0f}, {:.0f}]", quantile(all, 0), median(all));
        };
        fmt::print("    \"{}\": {{\"first_us\": {}, \"exact_us\": {}, \"nearest_us\": {}}}{}\n", counts[i],
                   figures(&Round::first_us), figures(&Round::exact_us), figures(&Round::nearest_us),
                   i + 1 == counts.size() ? "" : ",");
    }
    fmt::print("  }}\n");
    return 0;
}
