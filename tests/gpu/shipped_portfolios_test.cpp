// Verifies the members of the shipped portfolios on this GPU.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "db/portfolio/portfolio_text.h"
#include "runtime/compiler.h"
#include "runtime/configured_kernel.h"
#include "runtime/selection.h"
#include "runtime/workspace.h"
#include "templates/launch/limits.h"
#include "tests/gpu/support.h"
#include "tuner/portfolio/model/class_problem.h"
#include "tuner/problem/trial_ledger.h"
#include "tuner/trial/testbed.h"
#include "util/parallel_for.h"

namespace smemtune {
namespace {

// The parameter is the type of the elements.
class ShippedPortfolios : public testing::TestWithParam<const char*> {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);
    std::map<std::tuple<std::string, std::string, std::string>, TestbedBinaries> testbeds;

    const TestbedBinaries& testbed_of(const KernelTemplate& kernel, const Problem& problem) {
        const std::tuple key{kernel.operation.name, problem.type, problem.layout};
        if (!testbeds.contains(key)) testbeds.emplace(key, compile_testbed(*compiler, kernel, problem));
        return testbeds.at(key);
    }

    struct Member {
        const KernelTemplate* kernel;
        Configuration configuration;
        std::set<std::string> classes;  // the classes of alignment for which the member serves
        std::string code_hash;          // the hash of the machine code that the text names
        Binary binary;
    };

    std::vector<Member> members_of(const PortfolioText& text) const {
        const Problem like{text.operation, text.type, text.layout, {}};
        std::vector<Member> members(text.members.size());
        parallel_for(members.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
            const auto& row = text.members[i];
            const auto& kernel = *std::ranges::find(builtin_templates(), row.kernel_template, &KernelTemplate::name);
            const auto configuration = completed(row.member.configuration, default_configuration(kernel));
            // Some programs have two possible machine codes (compile_portfolio.cpp).
            Binary compiled;
            for (int tries = 0; tries < 8 && code_hash_of(compiled) != row.member.code_hash; ++tries) {
                compiled = std::get<Binary>(compiler->compile(program_of(kernel, configuration, like)));
            }
            members[i] = {&kernel, configuration, {}, row.member.code_hash, std::move(compiled)};
            members[i].classes.insert(row.member.classes.begin(), row.member.classes.end());
        });
        return members;
    }
};

// Returns the problems at which a member is verified: one of each class of alignment, and the one with aligned rows
// that needs the most workspace. If blocks share K, they write the most sums there.
std::set<Problem> problems_for(const KernelTemplate& kernel, const Configuration& configuration, const Problem& like,
                               const Device& device) {
    std::vector<Problem> samples;
    const std::vector<std::array<std::int64_t, 3>> extents{
        {4096, 4096, 512},  {4096, 32, 4096}, {4096, 16, 4096}, {4096, 4096, 16},  {4096, 1, 4096}, {1, 4096, 4096},
        {16, 4096, 4096},   {32, 4096, 4096}, {32, 64, 16384},  {64, 64, 8192},    {64, 64, 65536}, {64, 256, 65536},
        {128, 1024, 16384}, {256, 256, 8192}, {512, 512, 4096}, {1024, 1024, 8192}};
    for (const auto& [m, n, k] : extents) {
        samples.push_back(gemm(m, n, k, like.type, like.layout));
    }
    const auto is_valid = [&](const Problem& problem) {
        return !infeasibility(kernel, configuration, problem, device);
    };
    std::set<Problem> problems;
    for (const std::string wanted : {"000", "001", "010", "011", "100", "101", "110", "111"}) {
        const auto problem = class_problem(samples, wanted, element_type(like.type).bytes, 256, is_valid);
        if (problem) problems.insert(*problem);
    }
    const auto workspace_at = [&](const Problem& problem) {
        const auto aligned = problem_class(problem, element_type(like.type).bytes) == "111";
        if (!aligned || !is_valid(problem)) return std::int64_t{0};
        const auto workspace = launch_of(kernel, configuration, problem, device).workspace;
        return workspace ? workspace->bytes : 0;
    };
    const auto most = *std::ranges::max_element(samples, {}, workspace_at);
    if (workspace_at(most) > 0) problems.insert(most);
    return problems;
}

TEST_P(ShippedPortfolios, AreRightInEachClassOfAlignment) {
    int texts = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SMEMTUNE_SOURCE_DIR) + "/db/portfolios")) {
        if (entry.path().extension() != ".toml") continue;
        std::ifstream file(entry.path());
        const auto text = parse_portfolio_text(entry.path(), {std::istreambuf_iterator(file), {}});
        if (text.device.name != device.name || text.type != GetParam()) continue;
        ++texts;
        if (text.compiler != compiler->version()) GTEST_SKIP() << "the shipped code is that of " << text.compiler;
        SCOPED_TRACE(entry.path().filename().string());
        const Problem like{text.operation, text.type, text.layout, {}};
        const auto members = members_of(text);
        std::map<Problem, std::vector<const Member*>> plan;
        for (const auto& member : members) {
            const auto problems = problems_for(*member.kernel, member.configuration, like, device);
            std::set<std::string> classes;
            for (const auto& problem : problems) {
                classes.insert(problem_class(problem, element_type(problem.type).bytes));
                plan[problem].push_back(&member);
            }
            EXPECT_EQ(code_hash_of(member.binary), member.code_hash) << to_text(member.configuration);
            EXPECT_TRUE(std::ranges::includes(classes, member.classes)) << to_text(member.configuration);
        }
        for (const auto& [problem, here] : plan) {
            const auto& kernel = *here.front()->kernel;
            Testbed testbed(*backend, kernel.operation, problem, testbed_of(kernel, problem), 1);
            for (const auto* member : here) {
                SCOPED_TRACE(to_text(problem) + " " + member->kernel->name + " " + to_text(member->configuration));
                const auto launch = launch_of(*member->kernel, member->configuration, problem, device);
                const auto loaded =
                    with_workspace(backend->load(member->binary, launch.dynamic_shared_bytes), launch, *backend);
                EXPECT_EQ(testbed.verify(ConfiguredKernel(loaded, launch)).wrong, std::nullopt);
            }
        }
    }
    if (texts == 0) GTEST_SKIP() << "no such portfolio is shipped for " << device.name;
}

INSTANTIATE_TEST_SUITE_P(Types, ShippedPortfolios, testing::Values("f32", "tf32", "bf16", "f16"),
                         [](const auto& type) { return std::string(type.param); });

}  // namespace
}  // namespace smemtune
