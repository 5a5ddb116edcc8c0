// Tests that no kernel accesses memory outside its operands or its shared memory. The tests use checked mode and
// operands without memory behind their last element.
#include "tests/kernels/support.h"

namespace smemtune {
namespace {

const std::vector<std::vector<std::int64_t>> sizes{{1, 1, 1},     {3, 5, 7},    {17, 13, 19}, {33, 31, 47},
                                                   {68, 36, 141}, {65, 68, 44}, {1, 129, 2}};

class Bounds : public testing::TestWithParam<Laid> {
protected:
    const KernelTemplate kernel = builtin(GetParam().kernel);
    const std::unique_ptr<Compiler> compiler =
        make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = true});
    const std::unique_ptr<Backend> backend = open_host({.seed = 11});
};

TEST_P(Bounds, NoAccessLeavesOperandsOrSharedMemory) {
    CompilePool pool(*compiler, cores());
    std::vector<Problem> problems;
    for (const auto& extents : sizes) problems.push_back(problem_of(kernel, extents, GetParam().layout));
    const auto configurations = configurations_of(kernel, aligned_problem_of(kernel, GetParam().layout), 3);
    std::vector<std::shared_future<CompilePool::Result>> compiled;
    for (const auto& configuration : configurations) {
        compiled.push_back(pool.submit(program_of(kernel, configuration, problems.front())));
    }
    const auto reference = unchecked_reference(*backend, kernel, problems.front());
    for (std::size_t size = 0; size < problems.size(); ++size) {
        const auto& problem = problems[size];
        for (const auto& check : kernel.operation.checks) {
            ExactOperands operands(*backend, kernel.operation, problem, check);
            operands.expect(*reference);
            for (std::size_t i = 0; i < configurations.size(); ++i) {
                if (!is_sampled(GetParam(), i, size)) continue;
                SCOPED_TRACE(to_text(problem) + " " + to_text(configurations[i]));
                const auto launch = launch_of(kernel, configurations[i], problem, backend->device());
                const auto loaded = load(*backend, binary_of(compiled[i].get()), launch);
                EXPECT_EQ(failure_of(operands, *loaded, launch), std::nullopt);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Templates, Bounds, testing::ValuesIn(builtins_in_every_layout()), name_of);

class BoundsOfReference : public Bounds {};

TEST_P(BoundsOfReference, NoAccessLeavesOperandsOrSharedMemory) {
    const auto program = reference_program(kernel, problem_of(kernel, sizes.front(), GetParam().layout));
    const auto reference = backend->load(binary_of(compiler->compile(program)), 0);
    for (const auto& extents : sizes) {
        const auto problem = problem_of(kernel, extents, GetParam().layout);
        for (const auto& check : kernel.operation.checks) {
            ExactOperands operands(*backend, kernel.operation, problem, check);
            EXPECT_NO_THROW(operands.expect(*reference)) << to_text(problem);
        }
    }
}

// The parameters are one template for each operation and layout.
INSTANTIATE_TEST_SUITE_P(Templates, BoundsOfReference, testing::ValuesIn([] {
                             auto all = builtins_in_every_layout();
                             std::set<std::string> seen;
                             std::erase_if(all, [&](const Laid& each) {
                                 return !seen.insert(builtin(each.kernel).operation.name + each.layout).second;
                             });
                             return all;
                         }()),
                         name_of);

}  // namespace
}  // namespace smemtune
