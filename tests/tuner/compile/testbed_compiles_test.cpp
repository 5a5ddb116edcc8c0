#include "tuner/compile/testbed_compiles.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_compiler.h"
#include "tuner/cli/argument_parsing.h"

namespace smemtune {
namespace {

TEST(TestbedCompiles, EachTypeAndLayoutIsCompiledOnceForAllSizes) {
    const auto kernel = find_template("", "tiled");
    const FakeCompiler compiler;
    CompilePool pool(compiler, 1);
    TestbedCompiles compiles(compiler, pool);
    const auto programs_of = [&](const Problem& problem) {
        const auto before = compiler.begun().size();
        compiles.of(kernel, problem).wait();
        return compiler.begun().size() - before;
    };
    const auto programs = programs_of(gemm(8, 8, 8));
    EXPECT_GT(programs, 0U);
    EXPECT_EQ(programs_of(gemm(16, 8, 24)), 0U) << "no program depends on extents";
    EXPECT_EQ(programs_of(gemm(8, 8, 8, "f32", "nt")), programs);
    EXPECT_GT(programs_of(gemm(8, 8, 8, "f16")), 0U);
    EXPECT_EQ(programs_of(gemm(8, 8, 8, "f32", "nt")), 0U);
}

}  // namespace
}  // namespace smemtune
