// Measures how long it takes to build a template's space, from the text of its manifest to the last valid
// configuration.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "templates/manifest/manifest.h"

namespace {

using namespace smemtune;

std::string read_xgemm() {
    std::ifstream file(SMEMTUNE_XGEMM);
    return {std::istreambuf_iterator<char>(file), {}};
}

Operations gemm_operation() {
    auto operation = parse_operation("gemm/operation.toml", builtin_sources().at("gemm/operation.toml"));
    return {{"gemm", std::move(operation.value())}};
}

void parse_manifest(benchmark::State& state) {
    const auto text = read_xgemm();
    const auto operations = gemm_operation();
    for (auto _ : state) benchmark::DoNotOptimize(parse_template("xgemm.toml", text, operations));
}

void enumerate_space(benchmark::State& state) {
    const auto kernel = parse_template("xgemm.toml", read_xgemm(), gemm_operation()).value();
    for (auto _ : state) {
        const auto space = declared_space(kernel, gemm(4096, 4096, 4096), model_device("sm_86"));
        state.counters["raw"] = static_cast<double>(space.raw_size());
        state.counters["valid"] = static_cast<double>(space.size());
    }
}

void manifest_to_space(benchmark::State& state) {
    const auto text = read_xgemm();
    const auto operations = gemm_operation();
    for (auto _ : state) {
        const auto kernel = parse_template("xgemm.toml", text, operations).value();
        const auto space = declared_space(kernel, gemm(4096, 4096, 4096), model_device("sm_86"));
        benchmark::DoNotOptimize(space.size());
    }
}

BENCHMARK(parse_manifest)->Unit(benchmark::kMillisecond);
BENCHMARK(enumerate_space)->Unit(benchmark::kMillisecond);
BENCHMARK(manifest_to_space)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
