// Compares two estimates in warp_tiled's manifest, POINTERS and HELD, with what the kernel's loaders need. Other values
// that manifest and kernel have in common need no such test: they are derived values with `constant = true`, which the
// kernel takes from the manifest.
#include "tests/kernels/support.h"

namespace smemtune {
namespace {

std::int64_t derived(const KernelTemplate& kernel, const std::string& name, const Configuration& configuration,
                     const Problem& problem) {
    auto environment = environment_of(kernel.operation, problem, host_device());
    for (const auto& [parameter, value] : configuration.values) environment[parameter] = value;
    return std::ranges::find(kernel.derived, name, &Derived::name)->expression.evaluate(environment);
}

bool has_only_powers_of_two(const Configuration& configuration) {
    return std::ranges::all_of(std::vector{"BLOCK_M", "BLOCK_N", "THREAD_M", "THREAD_N"}, [&](const char* name) {
        return std::has_single_bit(static_cast<std::uint64_t>(configuration.values.at(name)));
    });
}

class WarpTiledManifest : public testing::TestWithParam<std::string> {};

// The manifest estimates POINTERS and HELD. The kernel computes both exactly, as constants, which the host compiler
// evaluates. An estimate must not exceed its constant. If BLOCK_M, BLOCK_N, THREAD_M and THREAD_N are powers of two,
// POINTERS must be exact.
TEST_P(WarpTiledManifest, EstimatesWhatTheLoadersHoldInRegisters) {
    const auto kernel = builtin("warp_tiled");
    const auto problem = problem_of(kernel, {384, 384, 4096}, GetParam());
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    CompilePool pool(*compiler, cores());
    std::vector<std::pair<std::string, std::shared_future<CompilePool::Result>>> compiled;
    int exact = 0;
    for (const auto& configuration : configurations_of(kernel, problem, 6)) {
        const auto pointers = derived(kernel, "POINTERS", configuration, problem);
        const auto held = derived(kernel, "HELD", configuration, problem);
        const bool powers = has_only_powers_of_two(configuration);
        exact += powers ? 1 : 0;
        auto program = program_of(kernel, configuration, problem);
        program.files.at(program.source_path) +=
            "constexpr int pointers = LoaderA::Partition::PASSES + LoaderB::Partition::PASSES;\n"
            "constexpr int held = (LoaderA::THROUGH_REGISTERS ? LoaderA::COPIES * VECTOR_A : 0) +\n"
            "                     (LoaderB::THROUGH_REGISTERS ? LoaderB::COPIES * VECTOR_B : 0);\n"
            "template <int more> constexpr bool between(int most) { return more >= 0 && more <= most; }\n"
            "static_assert(between<pointers - " +
            std::to_string(pointers) + ">(" + (powers ? "0" : "2") + "));\n" + "static_assert(between<held - " +
            std::to_string(held) + ">(32));\n";
        compiled.emplace_back(to_text(configuration), pool.submit(program));
    }
    for (const auto& [configuration, result] : compiled) {
        const auto* rejection = std::get_if<Rejection>(&result.get());
        EXPECT_EQ(rejection, nullptr) << configuration << ": " << rejection->reason;
    }
    EXPECT_GE(exact, 1);
}

INSTANTIATE_TEST_SUITE_P(Layouts, WarpTiledManifest, testing::Values("nn", "nt", "tn", "tt"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace smemtune
