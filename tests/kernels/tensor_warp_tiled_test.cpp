// Tests tensor_warp_tiled and tensor_split_tiled, which share headers. The tests run on the host device, which emulates
// the instructions of tensor cores. They cover every code path of the kernels, in every layout and type.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/kernels/support.h"
#include "tests/kernels/tf32.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

struct Product {
    std::string type, layout, kernel = "tensor_warp_tiled";
};
void PrintTo(const Product& product, std::ostream* out) { *out << product.type << ' ' << product.layout; }

class TensorWarpTiled : public testing::TestWithParam<Product> {
protected:
    // The checks of the operation, and two more checks with padded rows that are still aligned to 16 bytes. In the last
    // two checks, k-tiles are copied asynchronously.
    TensorWarpTiled() {
        auto& checks = kernel.operation.checks;
        for (const auto* beta : {"0", "0.5"}) {
            auto check = checks.front();
            check.padding = 8;
            check.multiple = 8;
            check.scalars["beta"] = std::stod(beta);
            check.poison = check.scalars["beta"] == 0;
            checks.push_back(check);
        }
    }
    [[nodiscard]] Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(m, n, k, GetParam().type, GetParam().layout);
    }

    KernelTemplate kernel = builtin(GetParam().kernel);
    const std::unique_ptr<Compiler> compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
};

// The configurations cover k-tiles whose lines have 2 to 16 chunks of 16 bytes (for tf32: 4 to 32), one and several
// k-steps, and a K that is split.
const std::vector<std::string> ways{
    "BLOCK_M=64,BLOCK_N=64,BLOCK_K=32,WARP_M=32,WARP_N=32,STAGES=3,SPLIT_K=1,BLOCKS_PER_SM=1,GROUP_M=4",
    "BLOCK_M=32,BLOCK_N=64,BLOCK_K=16,WARP_M=16,WARP_N=64,STAGES=4,SPLIT_K=4,BLOCKS_PER_SM=1,GROUP_M=1",
    "BLOCK_M=128,BLOCK_N=32,BLOCK_K=64,WARP_M=32,WARP_N=32,STAGES=2,SPLIT_K=1,BLOCKS_PER_SM=1,GROUP_M=8",
};

TEST_P(TensorWarpTiled, IsRightForEveryShapeAndPointer) {
    const std::vector<Problem> problems{problem(1, 1, 1), problem(64, 64, 64), problem(72, 88, 136),
                                        problem(136, 200, 24), problem(65, 67, 131)};
    const auto tools = compile_testbed(*compiler, kernel, problems.front());
    std::vector<Binary> binaries;
    for (const auto& way : ways) {
        binaries.push_back(
            binary_of(compiler->compile(program_of(kernel, parse_configuration(way), problems.front()))));
    }
    for (const auto& each : problems) {
        const auto backend = open_host({.seed = 3});
        Testbed testbed(*backend, kernel.operation, each, tools, 5);
        for (std::size_t i = 0; i < ways.size(); ++i) {
            SCOPED_TRACE(to_text(each) + " " + ways[i]);
            const auto launch = launch_of(kernel, parse_configuration(ways[i]), each, backend->device());
            const auto verdict = testbed.verify(ConfiguredKernel(load(*backend, binaries[i], launch), launch));
            EXPECT_EQ(verdict.wrong, std::nullopt);
            EXPECT_LE(verdict.worst, 1);
        }
    }
}

TEST_P(TensorWarpTiled, AccessesNothingOutsideItsOperandsAndSharedMemory) {
    const auto checked = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = true});
    const auto backend = open_host({.seed = 11});
    const auto configuration = parse_configuration(
        "BLOCK_M=32,BLOCK_N=32,BLOCK_K=16,WARP_M=16,WARP_N=32,STAGES=3,SPLIT_K=2,BLOCKS_PER_SM=1,GROUP_M=4");
    const auto binary = binary_of(checked->compile(program_of(kernel, configuration, problem(1, 1, 1))));
    const auto reference = unchecked_reference(*backend, kernel, problem(1, 1, 1));
    for (const auto& each : {problem(1, 1, 1), problem(40, 48, 72), problem(33, 31, 47)}) {
        for (const auto& check : kernel.operation.checks) {
            if (!check.extents.empty()) continue;  // skips checks with K = 0, in which the kernel reads less
            SCOPED_TRACE(to_text(each));
            ExactOperands operands(*backend, kernel.operation, each, check);
            operands.expect(*reference);
            const auto launch = launch_of(kernel, configuration, each, backend->device());
            const auto loaded = load(*backend, binary, launch);
            EXPECT_EQ(failure_of(operands, *loaded, launch), std::nullopt);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, TensorWarpTiled,
                         testing::Values(Product{"f16", "nn"}, Product{"bf16", "nt"}, Product{"bf16", "tn"},
                                         Product{"f16", "tt"}, Product{"tf32", "nn"}, Product{"tf32", "nt"},
                                         Product{"tf32", "tn"}, Product{"tf32", "tt"}),
                         [](const auto& instance) { return instance.param.type + "_" + instance.param.layout; });
INSTANTIATE_TEST_SUITE_P(TensorSplitTiled, TensorWarpTiled,
                         testing::Values(Product{"3xtf32", "nn", "tensor_split_tiled"},
                                         Product{"3xtf32", "nt", "tensor_split_tiled"},
                                         Product{"3xtf32", "tn", "tensor_split_tiled"},
                                         Product{"3xtf32", "tt", "tensor_split_tiled"}),
                         [](const auto& instance) { return instance.param.type + "_" + instance.param.layout; });

TEST(TensorWarpTiledBits, AreTheSameInAnyOrderOfBlocksAndThreads) {
    const auto kernel = builtin("tensor_warp_tiled");
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    const auto problem = gemm(72, 88, 264, "bf16", "tn");
    const auto configuration = parse_configuration(ways[1]);
    const auto binary = binary_of(compiler->compile(program_of(kernel, configuration, problem)));
    std::vector<std::byte> bits;
    for (const auto& options : {BackendOptions{.seed = 1, .threads = 2}, {.seed = 2, .threads = 1}}) {
        const auto backend = open_host(options);
        const auto launch = launch_of(kernel, configuration, problem, backend->device());
        const auto loaded = load(*backend, binary, launch);
        ExactOperands operands(*backend, kernel.operation, problem, kernel.operation.checks.front(), false);
        for (int again = 0; again < 2; ++again) {
            operands.run(*loaded, launch);
            if (bits.empty()) bits = operands.bits();
            EXPECT_TRUE(operands.bits() == bits) << "seed " << options.seed << ", run " << again;
        }
    }
}

// The kernel reads A by ldmatrix and B element by element. Neither matrix has rows that are aligned to 16 bytes.
TEST(TensorWarpTiledInputs, OfTf32AreRoundedToNearestOnce) {
    const auto kernel = builtin("tensor_warp_tiled");
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    const auto& numbers = numbers_beyond_tf32();
    int m = static_cast<int>(numbers.size()), n = m, k = 1;
    const auto problem = gemm(m, n, k, "tf32", "nn");
    const auto configuration = parse_configuration(ways.front());
    const auto backend = open_host({.seed = 1});
    const auto launch = launch_of(kernel, configuration, problem, backend->device());
    const auto binary = binary_of(compiler->compile(program_of(kernel, configuration, problem)));
    const auto loaded = load(*backend, binary, launch);

    const auto operand = backend->allocate(numbers.size() * sizeof(float));
    backend->copy_to_device(*operand, std::as_bytes(std::span(numbers)));
    std::vector<float> result(numbers.size() * numbers.size(), std::nanf(""));
    const auto output = backend->allocate(result.size() * sizeof(float));
    float alpha = 1, beta = 0;
    long long lda = k, ldb = n, ldc = n;
    void *a = operand->data(), *b = operand->data(), *c = output->data();
    std::vector<void*> arguments{&m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc};
    auto runtime_arguments = launch.runtime_arguments;
    for (auto& argument : runtime_arguments) arguments.push_back(&argument);
    loaded->launch(nullptr, launch, arguments.data());
    backend->synchronize();
    backend->copy_to_host(std::as_writable_bytes(std::span(result)), *output);
    EXPECT_EQ(result, products_in_tf32(numbers));
}

TEST(TensorWarpTiledManifest, LeavesConfigurationsForEveryLayoutThatFitEveryArchitecture) {
    for (const auto* name : {"tensor_warp_tiled", "tensor_split_tiled"}) {
        const auto kernel = builtin(name);
        for (const auto* model : {"sm_80", "sm_86", "sm_89", "sm_90"}) {
            for (const auto& layout : kernel.layouts) {
                for (const auto& type : kernel.types) {
                    const auto problem = gemm(4096, 4096, 4096, type, layout);
                    const auto device = model_device(model);
                    const auto space = feasible_space(kernel, problem, device);
                    EXPECT_GT(space.size(), 500U) << name << " " << model << " " << type << " " << layout;
                    EXPECT_EQ(infeasibility(kernel, default_configuration(kernel), problem, device), std::nullopt);
                }
            }
        }
    }
    const auto kernel = builtin("tensor_warp_tiled");
    EXPECT_EQ(why_unsupported(kernel, gemm(64, 64, 64, "f16"), model_device("sm_75")), "needs compute capability 8.0");
    EXPECT_EQ(why_unsupported(kernel, gemm(64, 64, 64), model_device("sm_90")), "types: f16 bf16 tf32");
    EXPECT_EQ(why_unsupported(builtin("tensor_split_tiled"), gemm(64, 64, 64), model_device("sm_90")), "types: 3xtf32");
}

}  // namespace
}  // namespace smemtune
