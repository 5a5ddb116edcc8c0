// The tiled reference of matrix products must give the same results as a plain loop.
#include <cmath>
#include <random>

#include "tests/kernels/support.h"

namespace smemtune {
namespace {

// The elements of C, and their magnitudes for the error bound.
struct Answer {
    std::vector<double> value, magnitude;
    bool operator==(const Answer&) const = default;
};

class Reference : public testing::TestWithParam<std::string> {
protected:
    static constexpr float alpha = 2;
    static constexpr int padding = 3;

    const KernelTemplate kernel = builtin("tiled");
    const std::unique_ptr<Backend> backend = open_host({.seed = 4});
    const std::unique_ptr<LoadedKernel> reference = load();

    std::unique_ptr<LoadedKernel> load() const {
        const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
        auto problem = problem_of(kernel, {1, 1, 1});
        problem.layout = GetParam();
        return backend->load(binary_of(compiler->compile(reference_program(kernel, problem))), 0);
    }

    std::unique_ptr<Memory> random_matrix(long long rows, long long stride, unsigned seed) const {
        auto memory = backend->allocate(static_cast<std::size_t>(rows * stride) * sizeof(float));
        std::mt19937 random(seed);
        auto* elements = reinterpret_cast<float*>(memory->data());
        std::generate_n(elements, rows * stride, [&] { return static_cast<float>(random()) * 0x1p-31F - 1; });
        return memory;
    }

    // Returns the results of the reference kernel and of a plain loop for the same product.
    std::pair<Answer, Answer> both(int M, int N, int K, float beta, std::int64_t blocks) const {
        const bool transposed_a = GetParam()[0] == 't';
        const bool transposed_b = GetParam()[1] == 't';
        long long lda = (transposed_a ? M : K) + padding;
        long long ldb = (transposed_b ? K : N) + padding;
        long long ldc = N + padding;
        const auto a = random_matrix(transposed_a ? K : M, lda, 1);
        const auto b = random_matrix(transposed_b ? N : K, ldb, 2);
        const auto c = random_matrix(M, ldc, 3);
        const auto elements = static_cast<std::size_t>(M) * static_cast<std::size_t>(N);
        const auto value = backend->allocate(elements * sizeof(double));
        const auto magnitude = backend->allocate(elements * sizeof(double));

        auto scale = alpha;
        std::array<void*, 5> data{a->data(), b->data(), c->data(), value->data(), magnitude->data()};
        const std::array<void*, 13> arguments{&M,   &N,    &K,       &scale, &data[0], &lda,    &data[1],
                                              &ldb, &beta, &data[2], &ldc,   &data[3], &data[4]};
        reference->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {256, 1, 1}}, arguments.data());
        Answer got{std::vector<double>(elements), std::vector<double>(elements)};
        backend->copy_to_host(std::as_writable_bytes(std::span(got.value)), *value);
        backend->copy_to_host(std::as_writable_bytes(std::span(got.magnitude)), *magnitude);

        const auto element = [](const Memory& of, long long at) {
            return static_cast<double>(reinterpret_cast<const float*>(of.data())[at]);
        };
        Answer expected;
        for (long long row = 0; row < M; ++row) {
            for (long long column = 0; column < N; ++column) {
                double sum = 0;
                double sum_of_magnitudes = 0;
                for (long long k = 0; k < K; ++k) {
                    const auto product = element(*a, transposed_a ? k * lda + row : row * lda + k) *
                                         element(*b, transposed_b ? column * ldb + k : k * ldb + column);
                    sum += product;
                    sum_of_magnitudes += std::fabs(product);
                }
                const auto term = beta == 0 ? 0.0 : beta * element(*c, row * ldc + column);
                expected.value.push_back(alpha * sum + term);
                expected.magnitude.push_back(alpha * sum_of_magnitudes + std::fabs(term));
            }
        }
        return {got, expected};
    }
};

TEST_P(Reference, GivesWhatAPlainLoopGivesForEveryShape) {
    for (const auto& [M, N, K] : std::vector<std::array<int, 3>>{
             {1, 1, 1}, {1, 200, 3}, {200, 1, 17}, {63, 65, 16}, {64, 64, 64}, {65, 130, 15}, {2, 2, 500}}) {
        SCOPED_TRACE(std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K));
        const auto [got, expected] = both(M, N, K, -3, (std::int64_t{M} * N + 255) / 256);
        EXPECT_TRUE(got == expected) << "to the last bit: the order of the sum is the same";
    }
}

TEST_P(Reference, NeverReadsAnOutputThatBetaDoesNotScale) {
    const auto [got, expected] = both(70, 66, 5, 0, 19);
    EXPECT_TRUE(got == expected);
}

TEST_P(Reference, TakesAsManyBlocksAsItIsGiven) {
    for (const std::int64_t blocks : {1, 2, 100}) {
        const auto [got, expected] = both(130, 100, 20, 1, blocks);
        EXPECT_TRUE(got == expected) << blocks << " blocks";
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Reference, testing::Values("nn", "nt", "tn", "tt"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace smemtune
