// Measures the cost of fetches on the host device, without a compile: the time of a first and of a repeated fetch, and
// the memory that many fetched shapes take. Also measures the memory that launches on many streams take. All shapes use
// the machine code of one stored winner. The streams use a stored winner that needs a workspace. Prints members of a
// JSON object for bench/record.sh.
//
//     runtime_bench [SHAPES [STREAMS]]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "bench/stored_winners.h"
#include "runtime/host/host_backend.h"
#include "runtime/runtime.h"
#include "util/statistics.h"
#include "util/stopwatch.h"
#include "util/temporary_folder.h"

namespace {

using namespace smemtune;

constexpr auto with_workspace =
    "A_FIRST=1,ASYNC=1,BLOCKS_PER_SM=4,BLOCK_K=8,BLOCK_M=16,BLOCK_N=32,CLUSTER_K=1,GROUP_M=4,LANES_M=4,LANE_PAIRS=0,"
    "SLICES_K=2,SPLIT_K=2,STAGES=2,THREAD_M=4,THREAD_N=4,VECTOR_A=1,VECTOR_B=1";

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t virtual_pages = 0;
    std::size_t pages = 0;
    statm >> virtual_pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Problem shape(int i) { return gemm(15 + i % 1000, 31 + i / 1000, 100); }

// Returns the nanoseconds of one fetch while `threads` threads fetch the same problem. Each thread takes the median
// over its batches, and the result is the median over the threads. So a few batches in which a thread waited for a core
// have little effect.
double warm_ns(Runtime& runtime, unsigned threads) {
    constexpr int batches = 200;
    constexpr int calls = 1000;
    const auto problem = shape(0);
    std::vector<double> medians(threads);
    std::vector<std::jthread> running;
    std::barrier all_run(static_cast<std::ptrdiff_t>(threads));
    for (auto& its_median : medians) {
        running.emplace_back([&] {
            std::vector<double> times;
            (void)runtime.fetch(problem, "tiled");
            all_run.arrive_and_wait();
            for (int batch = 0; batch < batches; ++batch) {
                const auto begin = std::chrono::steady_clock::now();
                for (int call = 0; call < calls; ++call) (void)runtime.fetch(problem, "tiled");
                times.push_back(seconds_since(begin) * 1e9 / calls);
            }
            its_median = median(times);
        });
    }
    running.clear();
    return median(medians);
}

void measure(const std::filesystem::path& database, int shapes, int streams) {
    Runtime runtime({.database = database, .device = "host"});
    (void)runtime.fetch(shape(0), "tiled");
    fmt::print("  \"warm_fetch_ns\": {{");
    for (const unsigned threads : {1U, 2U, 4U, 8U, 16U}) {
        fmt::print("\"{}\": {:.1f}{}", threads, warm_ns(runtime, threads), threads == 16 ? "},\n" : ", ");
    }
    const auto before = resident_bytes();
    const auto begin = std::chrono::steady_clock::now();
    fmt::print("  \"after_shapes\": {{");
    for (int i = 1; i <= shapes; ++i) {
        (void)runtime.fetch(shape(i), "tiled");
        if (i % std::max(1, shapes / 5) == 0) {
            fmt::print("\"{}\": {{\"more_mib\": {:.1f}, \"us_per_shape\": {:.1f}}}{}", i,
                       static_cast<double>(resident_bytes() - before) / (1 << 20), seconds_since(begin) * 1e6 / i,
                       i + shapes / 5 > shapes ? "},\n" : ",\n                   ");
        }
    }
    // Each launch uses another stream. The addresses need not be real streams, because the host device only compares
    // them.
    const auto idle = resident_bytes();
    std::vector<float> matrix(1'000'000);
    for (int i = 0; i < streams; ++i) {
        auto* const stream = reinterpret_cast<CUstream_st*>(static_cast<std::uintptr_t>(0x1000 + i));
        runtime.fetch(gemm(15, 31, 100), "warp_tiled")
            .launch(stream, {.a = matrix.data(), .b = matrix.data(), .c = matrix.data()});
    }
    fmt::print("  \"streams\": {}, \"more_mib_of_streams\": {:.1f}\n", streams,
               static_cast<double>(resident_bytes() - idle) / (1 << 20));
}

}  // namespace

int main(int argc, char** argv) {
    const int shapes = argc > 1 ? std::atoi(argv[1]) : 100'000;
    const int streams = argc > 2 ? std::atoi(argv[2]) : 1000;
    const TemporaryFolder scratch;
    const auto compiler = make_compiler(host_device());
    const std::array problems{gemm(15, 31, 100)};
    for (const auto& [name, values] : {std::pair("warp_tiled", with_workspace), std::pair("tiled", "TILE_WIDTH=8")}) {
        store_winners(scratch / "tuning.db", host_device(), compile_builtin(name, values, problems[0], *compiler),
                      problems);
    }
    measure(scratch / "tuning.db", shapes, streams);
}
