// Compiles feasible configurations of the built-in templates for GPU 0.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "runtime/backend.h"
#include "runtime/configured_kernel.h"
#include "runtime/workspace.h"
#include "templates/arguments/argument_type.h"
#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "tuner/compile/compile_pool.h"

namespace smemtune {

/// If a space has more configurations than this limit, only a sample is tested. Every run takes the same sample.
constexpr std::size_t most_configurations = 200;

inline std::size_t elements(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

inline std::unique_ptr<Memory> upload(Backend& backend, std::span<const float> values) {
    auto memory = backend.allocate(values.size_bytes());
    backend.copy_to_device(*memory, std::as_bytes(values));
    return memory;
}

/// Computes C = alpha * A * B + beta * C for packed matrices with a kernel of the operation gemm.
struct Product {
    int m, n, k;
    float alpha, beta;
    const Memory &a, &b;

    void enqueue(StreamHandle stream, const LoadedKernel& kernel, const Launch& launch, const Memory& c) const {
        auto values = *this;
        long long lda = k, ldb = n, ldc = n;
        void *a_data = a.data(), *b_data = b.data(), *c_data = c.data();
        std::vector<void*> arguments{&values.m, &values.n, &values.k,    &values.alpha, &a_data, &lda,
                                     &b_data,   &ldb,      &values.beta, &c_data,       &ldc};
        auto more = launch.runtime_arguments;
        for (auto& argument : more) arguments.push_back(&argument);
        kernel.launch(stream, launch, arguments.data());
    }

    std::vector<float> by(Backend& backend, const LoadedKernel& kernel, const Launch& launch, const Memory& c) const {
        enqueue(nullptr, kernel, launch, c);
        backend.synchronize();
        std::vector<float> result(elements(m, n));
        backend.copy_to_host(std::as_writable_bytes(std::span(result)), c);
        return result;
    }
};

using Visit = std::function<void(const std::string& name, const Binary& binary, const Launch& launch)>;

/// Calls `visit` for up to `most_configurations` configurations of each template that supports `problem`, drawn at
/// random. The launch has the registers and shared memory that the compiler reported.
inline void for_configurations(const Device& device, const Problem& problem, const Visit& visit) {
    const auto compiler = make_compiler(device);
    CompilePool pool(*compiler, std::max(1U, std::thread::hardware_concurrency()));
    struct Compiled {
        std::string name;
        std::shared_future<CompilePool::Result> result;
        Launch launch;
    };
    std::vector<Compiled> compiled;
    for (const auto& kernel : builtin_templates()) {
        if (!supports(kernel, problem, device)) continue;
        const auto space = feasible_space(kernel, problem, device);
        std::vector<std::size_t> indices(space.size());
        std::iota(indices.begin(), indices.end(), 0);
        std::vector<std::size_t> drawn;
        std::ranges::sample(indices, std::back_inserter(drawn), most_configurations, std::mt19937(1));
        for (const auto index : drawn) {
            const auto configuration = space[index];
            compiled.push_back({kernel.name + " " + to_text(configuration),
                                pool.submit(program_of(kernel, configuration, problem)),
                                launch_of(kernel, configuration, problem, device)});
        }
    }
    ASSERT_FALSE(compiled.empty());
    for (auto& each : compiled) {
        const auto& result = each.result.get();
        const auto* binary = std::get_if<Binary>(&result);
        ASSERT_NE(binary, nullptr) << each.name << ": " << std::get<Rejection>(result).reason;
        each.launch.registers = binary->resources.registers;
        each.launch.static_shared_bytes = binary->resources.static_shared_bytes;
        visit(each.name, *binary, each.launch);
    }
}

/// Calls `visit` for `count` configurations of `kernel` that are spread over the space of `problem`.
inline void for_spread_configurations(
    Backend& backend, const Compiler& compiler, const KernelTemplate& kernel, const Problem& problem, std::size_t count,
    const std::function<void(const ConfiguredKernel& configured, const Binary& binary)>& visit) {
    const auto space = feasible_space(kernel, problem, backend.device());
    ASSERT_GE(space.size(), count) << to_text(problem);
    for (std::size_t i = 0; i < count; ++i) {
        const auto configuration = space[i * (space.size() - 1) / std::max<std::size_t>(1, count - 1)];
        SCOPED_TRACE(to_text(problem) + " " + to_text(configuration));
        const auto compiled = compiler.compile(program_of(kernel, configuration, problem));
        ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Rejection>(compiled).reason;
        const auto& binary = std::get<Binary>(compiled);
        const auto launch = launch_of(kernel, configuration, problem, backend.device());
        visit(ConfiguredKernel(with_workspace(backend.load(binary, launch.dynamic_shared_bytes), launch, backend),
                               launch),
              binary);
    }
}

/// The type in which elements of `type` are stored: FP32 for f32, tf32 and 3xtf32.
inline const NumberType& number_type_of(const std::string& type) {
    const auto* const name = element_type(type).bytes == 2 ? type.c_str() : "f32";
    return *std::ranges::find(number_types(), std::string_view(name), &NumberType::name);
}

}  // namespace smemtune
