// How long an application's first fetch of a problem takes, by the number of stored problems. Compiling is left out:
// all problems share stored machine code. Usage: fetch_bench [PROBLEMS...]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/compiler.h"
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "util/temporary_folder.h"

namespace {

using namespace smemtune;

// Distinct problems, scattered evenly over three decades of each extent.
Problem problem_of(int i) {
    const auto extent = [&](double step) {
        return 32 + std::llround(std::exp2(10 * std::fmod(i * step, 1.0)) * 7) + i % 3;
    };
    return gemm(extent(0.754877666), extent(0.569840291), 1000 + i);
}

void fill(const std::filesystem::path& path, const Device& device, const Compiler& compiler, int problems) {
    const auto templates = load_templates(builtin_sources());
    const auto kernel = *std::ranges::find(templates, std::string("naive"), &KernelTemplate::name);
    const auto configuration = parse_configuration("BLOCK_X=64,BLOCK_Y=1");
    const auto compiled = compiler.compile(program_of(kernel, configuration, problem_of(0)));
    const auto& binary = std::get<Binary>(compiled);
    Store store(path);
    TrialKey key{store.remember(device),
                 store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files})};
    for (int i = 0; i < problems; ++i) {
        key.problem = store.remember(problem_of(i));
        Measurement measurement{.median_us = 10, .samples_us = {10}};
        store.remember(TrialRecord{.key = key, .configuration = configuration, .outcome = measurement});
        std::optional<BinaryRecord> code;
        if (i == 0) {
            code = BinaryRecord{key.kernel_template, configuration, binary_key(binary.target, problem_of(0)),
                                binary.compiler,     binary.code,   binary.resources};
        }
        store.set_winner(key, configuration, code);
    }
}

// The median time of a fetch in a process that has loaded the machine code.
double median_us(Runtime& runtime, const std::vector<Problem>& problems, Match expected) {
    std::vector<double> times;
    for (const auto& problem : problems) {
        const auto start = std::chrono::steady_clock::now();
        const auto kernel = runtime.fetch(problem);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
        if (kernel.choice().match != expected) throw std::runtime_error("another match than expected");
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<int> counts;
    for (int i = 1; i < argc; ++i) counts.push_back(std::stoi(argv[i]));
    if (counts.empty()) counts = {1, 1'000, 100'000};
    const TemporaryFolder folder;
    const auto device = open_backend("host")->device();
    const auto compiler = make_compiler(device, {});
    fmt::print("{:>9} {:>9} {:>11}\n", "problems", "exact us", "nearest us");
    for (const int count : counts) {
        const auto path = folder / (std::to_string(count) + ".db");
        fill(path, device, *compiler, count);
        std::vector<Problem> near;
        for (int i = 0; i < 101; ++i) near.push_back(gemm(100 + i * 31, 3000 - i * 17, 999));
        // A new Runtime for each problem where there are few, for it remembers what was fetched.
        std::vector<double> exact;
        Runtime runtime({.database = path, .device = "host"});
        static_cast<void>(runtime.fetch(near.back()));  // loads the machine code
        near.pop_back();
        for (int i = 0; i < 15; ++i) {
            Runtime fresh({.database = path, .device = "host"});
            static_cast<void>(fresh.fetch(near.front()));
            exact.push_back(median_us(fresh, {problem_of(i * 7 % count)}, Match::exact));
        }
        std::ranges::nth_element(exact, exact.begin() + 7);
        fmt::print("{:>9} {:>9.0f} {:>11.0f}\n", count, exact[7], median_us(runtime, near, Match::nearest));
    }
    return 0;
}
