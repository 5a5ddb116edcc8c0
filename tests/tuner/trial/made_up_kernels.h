// Verifies kernels on the host device. A test makes up the kernels, which compute a matrix product.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

struct MadeUpKernel {
    std::string name;    ///< for messages of failed tests
    std::string source;  ///< defines the kernel `made_up`; its only block has N x M threads, one for each element of C
};

enum class Checks { first, all };  // `smemtune bench` verifies competitors with only the first check

/// Verifies each kernel at 16x16xK for each K in `depths`, and calls expect(kernel's index, K, verdict). For each K,
/// the kernels share a testbed, because the computation of its references takes most of the time. After a wrong kernel,
/// the testbed computes the references of a check again, but only when a later kernel runs the check.
inline void verify_made_up(const std::vector<MadeUpKernel>& kernels, const std::string& type, Checks checks,
                           const std::vector<std::int64_t>& depths,
                           const std::function<void(std::size_t, std::int64_t, const Testbed::Verdict&)>& expect) {
    ASSERT_FALSE(kernels.empty() || depths.empty());
    static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    static const auto backend = open_backend("host", {.seed = 1, .threads = 1});
    const auto manifest = "[template]\nname = \"made_up\"\noperation = \"gemm\"\ntypes = [\"" + type +
                          "\"]\nlayouts = [\"nn\"]\n[launch]\nblock = [\"N\", \"M\"]\ngrid = [\"1\"]\n"
                          "[requires]\nhost = true\n";
    const auto some = gemm(16, 16, 16, type);
    std::vector<KernelTemplate> templates;
    std::vector<Binary> binaries;
    for (const auto& kernel : kernels) {
        templates.push_back(load_templates({{"made_up.cu", kernel.source}, {"made_up.toml", manifest}}).front());
        binaries.push_back(std::get<Binary>(compiler->compile(program_of(templates.back(), {}, some))));
    }
    static std::map<std::string, TestbedBinaries> tools;
    if (!tools.contains(type)) tools.emplace(type, compile_testbed(*compiler, templates.front(), some));
    for (const auto depth : depths) {
        const auto problem = gemm(16, 16, depth, type);
        Testbed testbed(*backend, templates.front().operation, problem, tools.at(type), 1);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            SCOPED_TRACE(kernels[i].name + " K=" + std::to_string(depth));
            const ConfiguredKernel configured(backend->load(binaries[i], 0),
                                              launch_of(templates[i], {}, problem, backend->device()));
            expect(i, depth,
                   checks == Checks::first ? testbed.verify_first_check(configured) : testbed.verify(configured));
        }
    }
}

}  // namespace smemtune
