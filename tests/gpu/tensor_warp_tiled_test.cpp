// Tests products on real tensor cores: their rounding, and asynchronous copies and barriers, which the host device
// lacks.
#include <gmock/gmock.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "runtime/configured_kernel.h"
#include "runtime/workspace.h"
#include "tests/gpu/support.h"
#include "tests/kernels/tf32.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

struct ProductType {
    std::string type, layout, kernel = "tensor_warp_tiled";
};
void PrintTo(const ProductType& product, std::ostream* out) { *out << product.type << ' ' << product.layout; }

class TensorCores : public testing::TestWithParam<ProductType> {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);

    void SetUp() override {
        if (device.compute_capability < 80) GTEST_SKIP() << "no such instructions before compute capability 8.0";
    }
};

// Returns sizes with aligned and unaligned rows, with whole and partial tiles, with a large K, and with a K that is
// split.
std::vector<std::array<std::int64_t, 3>> shapes_for(const std::string& kernel) {
    if (kernel == "tensor_skinny") {
        return {{4096, 1, 4096}, {16, 4096, 1032}, {4095, 7, 1027}, {13, 1000, 520}, {16, 16, 65536}, {8, 64, 64}};
    }
    return {{1024, 1024, 1024}, {1000, 1032, 520}, {1023, 1025, 1027}, {64, 64, 65536}, {1, 4096, 512}};
}

TEST_P(TensorCores, GiveRightProductsOfEveryShape) {
    const auto [type, layout, name] = GetParam();
    const auto& all = builtin_templates();
    const auto& kernel = *std::ranges::find(all, name, &KernelTemplate::name);
    const auto tools = compile_testbed(*compiler, kernel, gemm(64, 64, 64, type, layout));
    for (const auto& extents : shapes_for(name)) {
        const auto problem = gemm(extents[0], extents[1], extents[2], type, layout);
        if (const auto why = why_unsupported(kernel, problem, device)) GTEST_SKIP() << *why;
        const auto space = feasible_space(kernel, problem, device);
        ASSERT_GT(space.size(), 0U) << to_text(problem);
        Testbed testbed(*backend, kernel.operation, problem, tools, 1);
        std::vector<std::size_t> indices(space.size());
        std::iota(indices.begin(), indices.end(), 0);
        std::vector<std::size_t> drawn;
        std::ranges::sample(indices, std::back_inserter(drawn), 8, std::mt19937(1));
        for (const auto index : drawn) {
            const auto configuration = space[index];
            SCOPED_TRACE(to_text(problem) + " " + to_text(configuration));
            const auto compiled = compiler->compile(program_of(kernel, configuration, problem));
            ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Rejection>(compiled).reason;
            const auto& binary = std::get<Binary>(compiled);
            const auto launch = launch_of(kernel, configuration, problem, device);
            const auto loaded = with_workspace(backend->load(binary, launch.dynamic_shared_bytes), launch, *backend);
            const ConfiguredKernel configured(loaded, launch);
            EXPECT_EQ(testbed.verify(configured).wrong, std::nullopt);
            EXPECT_EQ(testbed.verify_batch(configured, 20).wrong, std::nullopt);
        }
    }
}

TEST(TensorCoresTf32, RoundEachInputToNearestOnce) {
    const auto backend = open_backend("0");
    const auto device = backend->device();
    if (device.compute_capability < 80) GTEST_SKIP() << "no such instructions before compute capability 8.0";
    const auto& all = builtin_templates();
    const auto& kernel = *std::ranges::find(all, "tensor_warp_tiled", &KernelTemplate::name);
    const auto& numbers = numbers_beyond_tf32();
    const auto count = static_cast<int>(numbers.size());
    const auto problem = gemm(count, count, 1, "tf32", "nn");
    const auto configuration = feasible_space(kernel, problem, device)[0];
    const auto compiled = make_compiler(device)->compile(program_of(kernel, configuration, problem));
    ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Rejection>(compiled).reason;
    const auto launch = launch_of(kernel, configuration, problem, device);
    const auto loaded =
        with_workspace(backend->load(std::get<Binary>(compiled), launch.dynamic_shared_bytes), launch, *backend);
    const auto a = upload(*backend, numbers), b = upload(*backend, numbers);
    const auto c = backend->allocate(elements(count, count) * sizeof(float));
    const Product product{.m = count, .n = count, .k = 1, .alpha = 1, .beta = 0, .a = *a, .b = *b};
    EXPECT_EQ(product.by(*backend, *loaded, launch, *c), products_in_tf32(numbers));
}

INSTANTIATE_TEST_SUITE_P(
    Types, TensorCores,
    testing::Values(ProductType{"f16", "nn"}, ProductType{"f16", "nt"}, ProductType{"f16", "tn"},
                    ProductType{"f16", "tt"}, ProductType{"bf16", "nn"}, ProductType{"bf16", "tn"},
                    ProductType{"tf32", "nn"}, ProductType{"tf32", "nt"}, ProductType{"tf32", "tn"},
                    ProductType{"tf32", "tt"}, ProductType{"f16", "nn", "wgmma_tiled"},
                    ProductType{"f16", "nt", "wgmma_tiled"}, ProductType{"bf16", "tn", "wgmma_tiled"},
                    ProductType{"bf16", "tt", "wgmma_tiled"}, ProductType{"f16", "nn", "tensor_skinny"},
                    ProductType{"bf16", "nt", "tensor_skinny"}, ProductType{"bf16", "tn", "tensor_skinny"},
                    ProductType{"f16", "tt", "tensor_skinny"}, ProductType{"3xtf32", "nn", "tensor_split_tiled"},
                    ProductType{"3xtf32", "nt", "tensor_split_tiled"},
                    ProductType{"3xtf32", "tn", "tensor_split_tiled"},
                    ProductType{"3xtf32", "tt", "tensor_split_tiled"}, ProductType{"tf32", "nn", "wgmma_tf32_tiled"},
                    ProductType{"tf32", "nt", "wgmma_tf32_tiled"}, ProductType{"tf32", "tn", "wgmma_tf32_tiled"},
                    ProductType{"tf32", "tt", "wgmma_tf32_tiled"}, ProductType{"3xtf32", "nn", "wgmma_split_tiled"},
                    ProductType{"3xtf32", "nt", "wgmma_split_tiled"}, ProductType{"3xtf32", "tn", "wgmma_split_tiled"},
                    ProductType{"3xtf32", "tt", "wgmma_split_tiled"}),
    [](const auto& instance) {
        return instance.param.kernel + "_" + instance.param.type + "_" + instance.param.layout;
    });

}  // namespace
}  // namespace smemtune
