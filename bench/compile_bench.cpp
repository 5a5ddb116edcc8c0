// Measures how many programs per second NVRTC compiles in the thread pool that tuning uses, for each number of threads.
// Needs the CUDA Toolkit, but no GPU. Usage: compile_bench [THREADS,...] [PROGRAMS] [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/compile/compile_pool.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace {

using namespace smemtune;

struct Round {
    double seconds = 0;      // wall time from the first submission to the last result
    double cpu_seconds = 0;  // CPU time of all threads; it grows if threads compete for caches
};

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<Program> distinct_programs(const Device& device, std::size_t count) {
    const auto kernel = find_template("", "joint_tiled");
    const auto problem = gemm(4096, 4096, 4096);
    const auto space = feasible_space(kernel, problem, device);
    std::vector<Program> programs;
    for (std::size_t i = 0; i < count; ++i) {
        auto& program = programs.emplace_back(program_of(kernel, space[i % space.size()], problem));
        // There may be more programs than configurations. A comment with a number makes each program different without
        // changing the work of the compiler.
        program.files.at("configuration.h") += fmt::format("// {}\n", i);
    }
    return programs;
}

Round compile_all(const Compiler& compiler, const std::vector<Program>& programs, unsigned threads) {
    CompilePool pool(compiler, threads);
    const auto begin = std::chrono::steady_clock::now();
    const auto cpu = cpu_seconds();
    std::vector<std::shared_future<CompilePool::Result>> results;
    for (const auto& program : programs) results.push_back(pool.submit(program));
    for (const auto& result : results) {
        if (const auto* rejection = std::get_if<Rejection>(&result.get())) throw std::runtime_error(rejection->reason);
    }
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), cpu_seconds() - cpu};
}

unsigned count_of(const std::string& word) {
    const auto value = std::stol(word);
    if (value < 1 || value > 4096) throw std::invalid_argument("'" + word + "' is not in 1..4096");
    return static_cast<unsigned>(value);
}

std::vector<unsigned> thread_counts(const std::string& list) {
    std::vector<unsigned> counts;
    for (const auto& word : split(list, ',')) counts.push_back(count_of(word));
    for (unsigned count = 1; list.empty() && count <= std::thread::hardware_concurrency(); count *= 2) {
        counts.push_back(count);
    }
    return counts;
}

void measure(const std::vector<unsigned>& counts, std::size_t program_count, unsigned rounds) {
    const auto device = model_device("sm_90");
    const auto compiler = make_compiler(device);
    const auto programs = distinct_programs(device, program_count);
    (void)compile_all(*compiler, {programs.front()}, 1);  // loads NVRTC
    std::vector<Round> best(counts.size(), {.seconds = 1e30});
    // The thread counts alternate, so that other load on the machine affects all of them alike.
    for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const auto now = compile_all(*compiler, programs, counts[i]);
            if (now.seconds < best[i].seconds) best[i] = now;
        }
    }
    fmt::print("{}, {} programs, best of {} rounds\n", compiler->version(), programs.size(), rounds);
    std::vector<std::vector<std::string>> rows{{"threads", "programs/s", "ratio", "CPU s/program"}};
    const auto count = static_cast<double>(programs.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        rows.push_back({std::to_string(counts[i]), fmt::format("{:.2f}", count / best[i].seconds),
                        fmt::format("{:.2f}", best.front().seconds / best[i].seconds),
                        fmt::format("{:.3f}", best[i].cpu_seconds / count)});
    }
    fmt::print("{}", table(rows));
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        measure(thread_counts(words.empty() ? "" : words[0]), words.size() > 1 ? count_of(words[1]) : 32,
                words.size() > 2 ? count_of(words[2]) : 3);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "compile_bench: {}; usage: compile_bench [THREADS,...] [PROGRAMS] [ROUNDS]\n", error.what());
        return 1;
    }
}
