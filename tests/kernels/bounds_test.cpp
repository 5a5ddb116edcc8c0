// No kernel accesses memory outside its operands or its shared memory. Uses checked mode and operands without spare
// elements.
#include "tests/kernels/support.h"

namespace smemtune {
namespace {

class Bounds : public testing::TestWithParam<Laid> {};

TEST_P(Bounds, NoAccessLeavesOperandsOrSharedMemory) {
    const auto kernel = builtin(GetParam().kernel);
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = true});
    CompilePool pool(*compiler, cores());
    const auto backend = open_host({.seed = 11});
    std::vector<Problem> problems;
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{
             {1, 1, 1}, {3, 5, 7}, {17, 13, 19}, {33, 31, 47}, {68, 36, 269}, {65, 68, 44}, {1, 129, 2}}) {
        problems.push_back(problem_of(kernel, extents, GetParam().layout));
    }
    const auto configurations = configurations_of(kernel, aligned_problem_of(kernel, GetParam().layout), 4);
    std::vector<std::shared_future<CompilePool::Result>> compiled;
    for (const auto& configuration : configurations) {
        compiled.push_back(pool.submit(program_of(kernel, configuration, problems.front())));
    }
    const auto reference = backend->load(binary_of(compiler->compile(reference_program(kernel, problems.front()))), 0);
    for (const auto& problem : problems) {
        for (const auto& check : kernel.operation.checks) {
            ExactOperands operands(*backend, kernel.operation, problem, check);
            operands.expect(*reference);
            for (std::size_t i = 0; i < configurations.size(); ++i) {
                SCOPED_TRACE(to_text(problem) + " " + to_text(configurations[i]));
                const auto launch = launch_of(kernel, configurations[i], problem, backend->device());
                const auto loaded = load(*backend, binary_of(compiled[i].get()), launch);
                try {
                    operands.run(*loaded, launch);
                    EXPECT_EQ(operands.wrong(), std::nullopt);
                } catch (const DeviceFault& fault) {
                    ADD_FAILURE() << fault.what();
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Templates, Bounds, testing::ValuesIn(builtins_in_every_layout()), name_of);

}  // namespace
}  // namespace smemtune
