// Tests tensor_skinny on the host device, which emulates the instructions of tensor cores. The tests cover every code
// path of the kernel, in every layout, with few rows and with few columns.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/kernels/support.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

struct NarrowProduct {
    std::string type, layout;
    bool few_rows;
};
void PrintTo(const NarrowProduct& product, std::ostream* out) {
    *out << product.type << ' ' << product.layout << (product.few_rows ? " few rows" : " few columns");
}

// Returns the host device with this number of multiprocessors. The number decides whether several thread blocks share a
// tile.
Device device_with(std::int64_t multiprocessors) {
    auto device = open_host({.seed = 1})->device();
    device.multiprocessors = multiprocessors;
    return device;
}

class TensorSkinny : public testing::TestWithParam<NarrowProduct> {
protected:
    // The checks of the operation, and two more checks with padded rows that are still aligned to 16 bytes.
    TensorSkinny() {
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
    // Returns a product with `few` rows or columns of C and `many` in the other dimension.
    [[nodiscard]] Problem problem(std::int64_t many, std::int64_t few, std::int64_t k) const {
        return GetParam().few_rows ? gemm(few, many, k, GetParam().type, GetParam().layout)
                                   : gemm(many, few, k, GetParam().type, GetParam().layout);
    }
    [[nodiscard]] bool is_large_along_k() const {
        return GetParam().few_rows ? GetParam().layout[1] == 't' : GetParam().layout[0] == 'n';
    }
    [[nodiscard]] Configuration configuration(const std::string& rest) const {
        return parse_configuration(std::string("NARROW_IS_B=") + (GetParam().few_rows ? "0," : "1,") + rest);
    }

    KernelTemplate kernel = builtin("tensor_skinny");
    const std::unique_ptr<Compiler> compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
};

// The configurations cover: a vector; one to four chunks in a line of a panel; reads of 8 and of 16 bytes of a line;
// odd and even numbers of blocks in flight; computed and kept addresses; one and several warps along the rows; more and
// fewer threads than groups of four elements in a tile; more and fewer threads than k-steps of a panel.
const std::vector<std::string> narrow_ways{
    "COLUMNS=1,WARP_ROWS=32,WARPS_M=1,SLICES_K=2,LOADS=2,BLOCKS_PER_SM=1,KEEP_ADDRESSES=1",
    "COLUMNS=8,WARP_ROWS=32,WARPS_M=4,SLICES_K=2,LOADS=1,BLOCKS_PER_SM=1,KEEP_ADDRESSES=0",
    "COLUMNS=16,WARP_ROWS=64,WARPS_M=1,SLICES_K=2,LOADS=2,BLOCKS_PER_SM=1,KEEP_ADDRESSES=0",
    "COLUMNS=24,WARP_ROWS=32,WARPS_M=2,SLICES_K=2,LOADS=8,BLOCKS_PER_SM=1,KEEP_ADDRESSES=1",
};
// Another configuration, which is valid only if the large operand is contiguous along K.
const std::string way_along_k = "COLUMNS=8,WARP_ROWS=16,WARPS_M=2,SLICES_K=2,LOADS=1,BLOCKS_PER_SM=1,KEEP_ADDRESSES=1";

TEST_P(TensorSkinny, IsRightForEveryShapeAndPointer) {
    // The sizes cover: rows of whole vectors; rows of pairs; odd extents; less than a block; whole and partial blocks;
    // several panels; more columns than a tile has.
    const std::vector<Problem> problems{
        problem(1, 1, 1),    problem(72, 8, 512),  problem(34, 6, 98),   problem(36, 4, 100),  problem(67, 3, 333),
        problem(64, 1, 256), problem(33, 1, 1025), problem(40, 24, 136), problem(104, 16, 24), problem(30, 26, 70)};
    const auto tools = compile_testbed(*compiler, kernel, problems.front());
    auto ways = narrow_ways;
    if (is_large_along_k()) ways.push_back(way_along_k);
    std::vector<Binary> binaries;
    for (const auto& way : ways) {
        binaries.push_back(binary_of(compiler->compile(program_of(kernel, configuration(way), problems.front()))));
    }
    for (const auto& each : problems) {
        const auto backend = open_host({.seed = 3});
        Testbed testbed(*backend, kernel.operation, each, tools, 5);
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const auto& way = ways[i];
            const auto chosen = configuration(way);
            for (const auto multiprocessors : {1, 7}) {
                const auto launch = launch_of(kernel, chosen, each, device_with(multiprocessors));
                if (multiprocessors > 1 && launch.grid[1] == 1) continue;
                SCOPED_TRACE(to_text(each) + " " + way + " " + std::to_string(launch.grid[1]));
                const auto verdict = testbed.verify(ConfiguredKernel(load(*backend, binaries[i], launch), launch));
                EXPECT_EQ(verdict.wrong, std::nullopt);
                EXPECT_LE(verdict.worst, 1);
            }
        }
    }
}

TEST_P(TensorSkinny, AccessesNothingOutsideItsOperandsAndSharedMemory) {
    const auto checked = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = true});
    const auto backend = open_host({.seed = 11});
    const std::string rest = "COLUMNS=16,WARP_ROWS=32,WARPS_M=1,SLICES_K=2,LOADS=2,BLOCKS_PER_SM=1,KEEP_ADDRESSES=";
    std::vector<std::pair<Configuration, Binary>> ways;
    for (const auto* keep : {"0", "1"}) {
        const auto chosen = configuration(rest + keep);
        ways.emplace_back(chosen, binary_of(checked->compile(program_of(kernel, chosen, problem(1, 1, 1)))));
    }
    const auto reference = unchecked_reference(*backend, kernel, problem(1, 1, 1));
    for (const auto& each :
         {problem(1, 1, 1), problem(40, 16, 72), problem(33, 13, 301), problem(36, 18, 258), problem(40, 16, 264)}) {
        for (const auto& check : kernel.operation.checks) {
            if (!check.extents.empty()) continue;  // skips checks with K = 0, in which the kernel reads less
            ExactOperands operands(*backend, kernel.operation, each, check);
            operands.expect(*reference);
            for (const auto& [chosen, binary] : ways) {
                SCOPED_TRACE(to_text(each) + " " + to_text(chosen));
                const auto launch = launch_of(kernel, chosen, each, device_with(6));
                const auto loaded = load(*backend, binary, launch);
                EXPECT_EQ(failure_of(operands, *loaded, launch), std::nullopt);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, TensorSkinny,
                         testing::Values(NarrowProduct{"f16", "nn", false}, NarrowProduct{"bf16", "nt", false},
                                         NarrowProduct{"bf16", "tn", false}, NarrowProduct{"f16", "tt", false},
                                         NarrowProduct{"bf16", "nn", true}, NarrowProduct{"f16", "nt", true},
                                         NarrowProduct{"f16", "tn", true}, NarrowProduct{"bf16", "tt", true}),
                         [](const auto& instance) {
                             return instance.param.type + "_" + instance.param.layout +
                                    (instance.param.few_rows ? "_few_rows" : "_few_columns");
                         });

TEST(TensorSkinnyBits, AreTheSameInAnyOrderOfBlocksAndThreads) {
    const auto kernel = builtin("tensor_skinny");
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    const auto problem = gemm(70, 5, 1000, "bf16", "tn");
    const auto configuration = parse_configuration(
        "NARROW_IS_B=1,COLUMNS=8,WARP_ROWS=32,WARPS_M=1,SLICES_K=2,LOADS=2,BLOCKS_PER_SM=2,KEEP_ADDRESSES=0");
    const auto binary = binary_of(compiler->compile(program_of(kernel, configuration, problem)));
    std::vector<std::byte> bits;
    for (const auto& options : {BackendOptions{.seed = 1, .threads = 2}, {.seed = 2, .threads = 1}}) {
        const auto backend = open_host(options);
        const auto launch = launch_of(kernel, configuration, problem, device_with(9));
        ASSERT_GT(launch.grid[1], 2);
        const auto loaded = load(*backend, binary, launch);
        ExactOperands operands(*backend, kernel.operation, problem, kernel.operation.checks.front(), false);
        for (int again = 0; again < 2; ++again) {
            operands.run(*loaded, launch);
            if (bits.empty()) bits = operands.bits();
            EXPECT_TRUE(operands.bits() == bits) << "seed " << options.seed << ", run " << again;
        }
    }
}

TEST(TensorSkinnyManifest, LeavesConfigurationsForFewRowsAndColumnsInEveryLayout) {
    const auto kernel = builtin("tensor_skinny");
    for (const auto* model : {"sm_80", "sm_89", "sm_90"}) {
        const auto device = model_device(model);
        for (const auto& layout : kernel.layouts) {
            for (const std::int64_t few : {1, 2, 8, 16, 17, 32}) {
                for (const auto& problem : {gemm(few, 4096, 4096, "bf16", layout), gemm(4096, few, 4096, "f16", layout),
                                            gemm(few, few, 65536, "f16", layout), gemm(few, 64, 64, "bf16", layout)}) {
                    EXPECT_GT(feasible_space(kernel, problem, device).size(), 4U) << model << " " << to_text(problem);
                }
            }
            EXPECT_EQ(feasible_space(kernel, gemm(4096, 33, 4096, "bf16", layout), device).size(), 0U);
        }
        EXPECT_EQ(infeasibility(kernel, default_configuration(kernel), gemm(4096, 16, 4096, "bf16", "nn"), device),
                  std::nullopt);
    }
    EXPECT_EQ(why_unsupported(kernel, gemm(64, 1, 64, "f16"), model_device("sm_75")), "needs compute capability 8.0");
    EXPECT_EQ(why_unsupported(kernel, gemm(64, 1, 64), model_device("sm_90")), "types: f16 bf16");
}

}  // namespace
}  // namespace smemtune
