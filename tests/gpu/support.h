// Every feasible configuration of the built-in templates, compiled for GPU 0.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "runtime/backend.h"
#include "templates/catalog.h"
#include "tuner/compile_pool.h"

namespace smemtune {

using Visit = std::function<void(const std::string& name, const Binary& binary, const Launch& launch)>;

/// Calls `visit` for each configuration of `problem`, with the launch as the compiler's report makes it.
inline void for_every_configuration(const Device& device, const Problem& problem, const Visit& visit) {
    const auto compiler = make_compiler(device);
    CompilePool pool(*compiler, std::max(1U, std::thread::hardware_concurrency()));
    struct Compiled {
        std::string name;
        std::shared_future<CompilePool::Result> result;
        Launch launch;
    };
    std::vector<Compiled> compiled;
    for (const auto& kernel : load_templates(builtin_sources())) {
        if (!supports(kernel, problem, device)) continue;
        const auto space = feasible_space(kernel, problem, device);
        for (std::size_t i = 0; i < space.size(); ++i) {
            const auto configuration = space[i];
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

}  // namespace smemtune
