// Tests wgmma_split_tiled on a GPU: compares its errors with those of cublasSgemm, and tries numbers that cannot be
// split.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <limits>

#include "runtime/configured_kernel.h"
#include "runtime/cublas/cublas.h"
#include "tests/gpu/support.h"
#include "util/parallel_for.h"

namespace smemtune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();

class WgmmaSplitTiled : public testing::Test {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);
    const KernelTemplate& kernel = *std::ranges::find(builtin_templates(), "wgmma_split_tiled", &KernelTemplate::name);

    void SetUp() override {
        if (device.compute_capability != 90) GTEST_SKIP() << "these instructions are those of compute capability 9.0";
    }

    struct Extents {
        int m, n, k;
        [[nodiscard]] Problem problem() const { return gemm(m, n, k, "3xtf32", "nn"); }
    };

    // Returns A * B of packed matrices.
    std::vector<float> product(const BoundKernel& by, const Extents& extents, const std::vector<float>& a,
                               const std::vector<float>& b) {
        auto [m, n, k] = extents;
        std::vector<float> result(elements(m, n), std::nanf(""));
        const auto left = upload(*backend, a), right = upload(*backend, b), output = upload(*backend, result);
        float alpha = 1, beta = 0;
        long long lda = k, ldb = n, ldc = n;
        void *a_data = left->data(), *b_data = right->data(), *c_data = output->data();
        const std::vector<void*> arguments{&m, &n, &k, &alpha, &a_data, &lda, &b_data, &ldb, &beta, &c_data, &ldc};
        by.launch(nullptr, arguments);
        backend->synchronize();
        backend->copy_to_host(std::as_writable_bytes(std::span(result)), *output);
        return result;
    }

    // Calls `visit` for `count` configurations that are spread over the space.
    void for_each(const Extents& extents, std::size_t count, const std::function<void(const BoundKernel&)>& visit) {
        for_spread_configurations(*backend, *compiler, kernel, extents.problem(), count,
                                  [&](const ConfiguredKernel& by, const Binary&) { visit(by); });
    }
};

// With K = 1, each element of C is the product of two numbers. Among the numbers are infinities, floats that are split
// into parts, and floats so large that rounding to 11 bits makes them infinite.
TEST_F(WgmmaSplitTiled, GivesInfinitiesNanAndTheLargestNumbersAsIeee754Says) {
    const std::vector<float> numbers{0,         -0.0F,        1,       -1,       1 + 0x1p-11F, 1 + 0x1p-23F,
                                     infinity,  -infinity,    largest, -largest, 0x1.ffep127F, 0x1.345679p9F,
                                     0x1p-140F, std::nanf("")};
    const auto count = static_cast<int>(numbers.size());
    for_each({count, count, 1}, 4, [&](const BoundKernel& by) {
        const auto got = product(by, {count, count, 1}, numbers, numbers);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const auto a = numbers[i / numbers.size()], b = numbers[i % numbers.size()], expected = a * b;
            SCOPED_TRACE(std::to_string(a) + " * " + std::to_string(b));
            if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(got[i])) << got[i];
            } else if (std::isinf(expected)) {
                EXPECT_EQ(got[i], expected);
            } else if (std::abs(expected) >= 0x1.ffp127F) {
                EXPECT_GE(got[i] / expected, 0.99F) << "11 bits of such a result may be rounded to infinity";
            } else {
                EXPECT_NEAR(got[i], expected, 10 * 0x1p-24 * std::abs(static_cast<double>(expected)) + 0x1p-136);
            }
        }
    });
}

TEST_F(WgmmaSplitTiled, AnInfinityInALongSumIsTheResult) {
    const Extents extents{133, 70, 3000};
    std::vector<float> a(elements(extents.m, extents.k), 1 + 0x1p-12F), b(elements(extents.k, extents.n), 1);
    const auto at = [&](int row, int k) -> float& { return a[elements(row, extents.k) + static_cast<std::size_t>(k)]; };
    at(3, 17) = infinity;
    at(4, 2999) = std::nanf("");
    at(132, 0) = -infinity;
    at(132, 2500) = infinity;
    for_each(extents, 6, [&](const BoundKernel& by) {
        const auto c = product(by, extents, a, b);
        for (int i = 0; i < extents.m; ++i) {
            for (int j = 0; j < extents.n; ++j) {
                const auto got = c[elements(i, extents.n) + static_cast<std::size_t>(j)];
                if (i == 3) {
                    ASSERT_EQ(got, infinity) << j;
                } else if (i == 4 || i == 132) {
                    ASSERT_TRUE(std::isnan(got)) << i << ' ' << j;
                } else {
                    ASSERT_NEAR(got, extents.k * (1 + 0x1p-12), 0.01) << i << ' ' << j;
                }
            }
        }
    });
}

// The errors against FP64. The unit is 2^-24 times the sum of the products' absolute values.
class WgmmaSplitErrors : public WgmmaSplitTiled {
protected:
    struct Errors {
        double largest = 0, mean = 0;
    };

    static Errors errors(const std::vector<float>& got, const std::vector<double>& exact,
                         const std::vector<double>& magnitude) {
        Errors result;
        for (std::size_t i = 0; i < exact.size(); ++i) {  // `exact` has only the first rows of C
            const auto error = std::abs(got[i] - exact[i]) / magnitude[i] * 0x1p24;
            result.largest = std::max(result.largest, error);
            result.mean += error / static_cast<double>(exact.size());
        }
        return result;
    }

    // Accepts a mean error up to `least_mean`, and a largest error up to four times `least_mean`, even if the errors of
    // cuBLAS are smaller.
    void expect_no_larger_than_cublas(const std::function<float(std::mt19937&)>& draw, double least_mean = 0) {
        const Cublas cublas(*backend);
        // Where C is small and K large, cuBLAS divides K among many thread blocks, which makes its errors small.
        for (const Extents extents :
             {Extents{128, 128, 256}, Extents{128, 128, 1024}, Extents{128, 128, 4096}, Extents{128, 128, 16384},
              Extents{128, 128, 65536}, Extents{64, 192, 30000}, Extents{256, 256, 65536}, Extents{512, 512, 20000},
              Extents{1024, 1024, 65536}, Extents{2048, 1024, 16384}}) {
            const auto k = static_cast<std::size_t>(extents.k), n = static_cast<std::size_t>(extents.n);
            std::mt19937 random(7);
            std::vector<float> a(elements(extents.m, extents.k)), b(elements(extents.k, extents.n));
            for (auto* matrix : {&a, &b}) {
                for (auto& element : *matrix) element = draw(random);
            }
            // The number of rows of C that are compared.
            const auto rows = std::min(static_cast<std::size_t>(extents.m), 16384 / n);
            std::vector<double> exact(rows * n), magnitude(exact.size());
            parallel_for(rows, std::thread::hardware_concurrency(), [&](std::size_t i) {
                for (std::size_t l = 0; l < k; ++l) {
                    const double x = a[i * k + l];
                    for (std::size_t j = 0; j < n; ++j) {
                        exact[i * n + j] += x * b[l * n + j];
                        magnitude[i * n + j] += std::abs(x * b[l * n + j]);
                    }
                }
            });
            const auto problem = to_text(extents.problem());
            const auto theirs =
                errors(product(*cublas.gemm(extents.problem()).kernel, extents, a, b), exact, magnitude);
            for_each(extents, 6, [&](const BoundKernel& by) {
                const auto ours = errors(product(by, extents, a, b), exact, magnitude);
                std::cout << problem << ": largest error " << ours.largest << " of " << theirs.largest << ", mean "
                          << ours.mean << " of " << theirs.mean << '\n';
                EXPECT_LE(ours.largest, std::max(theirs.largest, 4 * least_mean)) << problem;
                EXPECT_LE(ours.mean, std::max(theirs.mean, least_mean)) << problem;
            });
        }
    }
};

float uniform(std::mt19937& random, float least, float most) {
    return std::uniform_real_distribution<float>(least, most)(random);
}

TEST_F(WgmmaSplitErrors, OfUniformInputsAreNoLargerThanThoseOfCublas) {
    expect_no_larger_than_cublas([](auto& random) { return uniform(random, -1, 1); });
}

TEST_F(WgmmaSplitErrors, OfInputsSpreadOver20BinaryOrdersAreNoLargerThanThoseOfCublas) {
    expect_no_larger_than_cublas([](auto& random) {
        const auto magnitude = std::exp2(uniform(random, -10, 10));
        return random() % 2 == 0 ? magnitude : -magnitude;
    });
}

// Tensor cores cut bits off instead of rounding, so all errors have the same direction. With positive inputs, these
// errors do not cancel. At small K, they may therefore exceed the errors of cuBLAS.
TEST_F(WgmmaSplitErrors, OfPositiveInputsAreSmall) {
    expect_no_larger_than_cublas([](auto& random) { return uniform(random, 0, 1); }, 1.5);
}

}  // namespace
}  // namespace smemtune
