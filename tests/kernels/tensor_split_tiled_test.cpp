// Tests tensor_split_tiled on the host device: the precision of its products, its results for numbers that cannot be
// split, and whether the tests notice mistakes in its own code. tensor_warp_tiled_test.cpp tests it in every layout.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <random>

#include "runtime/configured_kernel.h"
#include "tests/kernels/support.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();

// A change of one file; no change if `path` is empty.
struct Change {
    std::string path, from, to;
};

class TensorSplitTiled : public testing::Test {
protected:
    static constexpr const char* way =
        "BLOCK_M=32,BLOCK_N=32,BLOCK_K=16,WARP_M=16,WARP_N=32,STAGES=3,SPLIT_K=1,BLOCKS_PER_SM=1,GROUP_M=4";
    const KernelTemplate kernel = builtin("tensor_split_tiled");
    const std::unique_ptr<Compiler> compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    const std::unique_ptr<Backend> backend = open_host({.seed = 1});

    [[nodiscard]] Binary compiled(const Change& change = {}) const {
        auto program = program_of(kernel, parse_configuration(way), problem(1, 1, 1));
        if (!change.path.empty()) {
            auto& text = program.files.at("gemm/" + change.path);
            const auto at = text.find(change.from);
            if (at == std::string::npos) throw std::runtime_error("there is no " + change.from);
            text.replace(at, change.from.size(), change.to);
        }
        return binary_of(compiler->compile(program));
    }
    static Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) { return gemm(m, n, k, "3xtf32", "nn"); }

    // Returns A * B of packed matrices, m x k and k x n.
    std::vector<float> product(const Binary& binary, const std::vector<float>& a, const std::vector<float>& b, int m,
                               int n, int k) {
        const auto upload = [&](const std::vector<float>& values) {
            auto memory = backend->allocate(values.size() * sizeof(float));
            backend->copy_to_device(*memory, std::as_bytes(std::span(values)));
            return memory;
        };
        std::vector<float> result(static_cast<std::size_t>(m) * static_cast<std::size_t>(n), std::nanf(""));
        const auto left = upload(a), right = upload(b), output = upload(result);
        const auto launch = launch_of(kernel, parse_configuration(way), problem(m, n, k), backend->device());
        float alpha = 1, beta = 0;
        long long lda = k, ldb = n, ldc = n;
        void *a_data = left->data(), *b_data = right->data(), *c_data = output->data();
        std::vector<void*> arguments{&m, &n, &k, &alpha, &a_data, &lda, &b_data, &ldb, &beta, &c_data, &ldc};
        auto runtime_arguments = launch.runtime_arguments;
        for (auto& argument : runtime_arguments) arguments.push_back(&argument);
        load(*backend, binary, launch)->launch(nullptr, launch, arguments.data());
        backend->synchronize();
        backend->copy_to_host(std::as_writable_bytes(std::span(result)), *output);
        return result;
    }

    // Returns the products of all pairs of `numbers`, computed with K = 1.
    std::vector<float> products(const Binary& binary, const std::vector<float>& numbers) {
        const auto count = static_cast<int>(numbers.size());
        return product(binary, numbers, numbers, count, count, 1);
    }
};

// The largest relative error of one product. With u = 2^-24, a product of split numbers has an error of at most 8 u
// (tuner/trial/tolerance.h). Another 2 u are for rounding the result and the expected value.
constexpr double most_error = 8 * 0x1p-24 + 0x1p-23;

// Expects each product to be what IEEE 754 gives, within a relative error of `error`.
void expect_products(const std::vector<float>& numbers, const std::vector<float>& got, double error) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto a = numbers[i / numbers.size()], b = numbers[i % numbers.size()];
        const auto expected = a * b;
        // A product close to the largest float may become infinite, because its factors are rounded to 11 bits.
        if (std::isfinite(a) && std::isfinite(b) && std::abs(static_cast<double>(a) * b) >= 0x1.ffp127) {
            const auto sign = a * b < 0 ? -1.0 : 1.0;
            EXPECT_GE(sign * got[i], 0x1.fep127) << a << " * " << b;
            continue;
        }
        SCOPED_TRACE(std::to_string(a) + " * " + std::to_string(b));
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(got[i])) << got[i];
        } else if (std::isinf(expected)) {
            EXPECT_EQ(got[i], expected);
        } else {
            EXPECT_NEAR(got[i], expected, error * std::abs(static_cast<double>(expected)));
        }
    }
}

const std::vector<float> special_numbers{0,
                                         -0.0F,
                                         1,
                                         -1,
                                         0.5F,
                                         1 + 0x1p-11F,
                                         -1 - 0x1p-12F,
                                         1 + 0x1p-23F,
                                         2 - 0x1p-23F,
                                         0x1.345679p9F,
                                         infinity,
                                         -infinity,
                                         std::nanf(""),
                                         largest,
                                         -largest,
                                         0x1.ffep127F,
                                         0x1.ffdp127F,
                                         0x1.fff001p126F};

TEST_F(TensorSplitTiled, GivesInfinitiesNanAndTheLargestNumbersAsIeee754Says) {
    expect_products(special_numbers, products(compiled(), special_numbers), most_error);
}

// The infinity may be at any place of the sum, among numbers that are split.
TEST_F(TensorSplitTiled, AnInfinityInALongSumIsTheResult) {
    const auto binary = compiled();
    constexpr int n = 33, k = 50;
    std::vector<float> a(n * k, 1 + 0x1p-12F), b(n * k, 1 - 0x1p-13F);
    a[3 * k + 17] = infinity;
    a[4 * k + 17] = std::nanf("");
    a[5 * k] = -infinity;
    a[5 * k + 49] = infinity;
    const auto c = product(binary, a, b, n, n, k);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const auto got = c[static_cast<std::size_t>(i * n + j)];
            if (i == 3) {
                EXPECT_EQ(got, infinity);
            } else if (i == 4 || i == 5) {
                EXPECT_TRUE(std::isnan(got)) << i;
            } else {
                EXPECT_NEAR(got, k * (1 + 0x1p-12) * (1 - 0x1p-13), k * most_error);
            }
        }
    }
}

// The smallest positive number of TF32 is 2^-136, so an element loses its bits below 2^-136. The product's error is
// this loss times the other element.
TEST_F(TensorSplitTiled, ElementsBelowTwoToTheMinus114AreExactToTwoToTheMinus136) {
    const std::vector<float> tiny{0x1.fffffep-115F, 0x1.234567p-120F, -0x1.fedcbap-126F, 0x1.28p-128F,
                                  0x1.8p-136F,      0x1p-137F,        0x1p-149F,         0};
    const std::vector<float> factors{1, 0x1p40F, -0x1.8p100F, 0x1p120F};
    const auto m = static_cast<int>(tiny.size()), n = static_cast<int>(factors.size());
    const auto c = product(compiled(), tiny, factors, m, n, 1);
    for (std::size_t i = 0; i < c.size(); ++i) {
        const double a = tiny[i / factors.size()], b = factors[i % factors.size()];
        const auto error = std::abs(b) * 0x1p-136 + std::abs(a * b) * most_error + 0x1p-149;
        EXPECT_NEAR(c[i], a * b, error) << a << " * " << b;
    }
    EXPECT_EQ(c[factors.size() * 3], tiny[3]) << "denormal numbers of TF32 and of FP32 are kept";
}

struct ErrorsOfSums {
    double largest = 0, mean = 0;
};

// The errors against FP64. The unit is 2^-24 times the sum of the products' absolute values.
class SumErrors : public TensorSplitTiled {
protected:
    static constexpr int side = 32;

    // Returns the errors of the kernel, and the errors of FP32 sums that add one product after another, as a thread of
    // an FP32 kernel does.
    std::pair<ErrorsOfSums, ErrorsOfSums> errors_at(int k, const std::function<float(std::mt19937&)>& draw) {
        std::mt19937 random(7);
        std::vector<float> a(static_cast<std::size_t>(side * k)), b(a.size());
        for (auto* matrix : {&a, &b}) {
            for (auto& element : *matrix) element = draw(random);
        }
        const auto c = product(compiled(), a, b, side, side, k);
        ErrorsOfSums ours, plain;
        for (int i = 0; i < side; ++i) {
            for (int j = 0; j < side; ++j) {
                float sum = 0;
                double exact = 0, magnitude = 0;
                for (int l = 0; l < k; ++l) {
                    const auto x = a[static_cast<std::size_t>(i * k + l)],
                               y = b[static_cast<std::size_t>(l * side + j)];
                    sum = std::fma(x, y, sum);
                    exact += static_cast<double>(x) * y;
                    magnitude += std::abs(static_cast<double>(x) * y);
                }
                const auto add = [&](ErrorsOfSums& errors, float result) {
                    const auto error = std::abs(result - exact) / magnitude * 0x1p24;
                    errors.largest = std::max(errors.largest, error);
                    errors.mean += error / (side * side);
                };
                add(ours, c[static_cast<std::size_t>(i * side + j)]);
                add(plain, sum);
            }
        }
        return {ours, plain};
    }
    void expect_no_worse_than_fp32(const std::function<float(std::mt19937&)>& draw) {
        for (const int k : {512, 4096, 16384}) {
            const auto [ours, plain] = errors_at(k, draw);
            std::cout << "K=" << k << ": largest error " << ours.largest << " of " << plain.largest << ", mean "
                      << ours.mean << " of " << plain.mean << '\n';
            EXPECT_LE(ours.largest, plain.largest) << k;
            EXPECT_LE(ours.mean, plain.mean) << k;
        }
    }
};

float uniform(std::mt19937& random, float least, float most) {
    return std::uniform_real_distribution<float>(least, most)(random);
}

// The emulation cuts bits off sums, as tensor cores do. The tests use a large K, because the rounding errors of FP32
// are small in short sums. With K = 64 and inputs of very different magnitude, the kernel's errors can be larger than
// those of FP32.
TEST_F(SumErrors, OfUniformInputsAreNoLargerThanThoseOfFp32) {
    expect_no_worse_than_fp32([](auto& random) { return uniform(random, -1, 1); });
}

TEST_F(SumErrors, OfInputsSpreadOver20BinaryOrdersAreNoLargerThanThoseOfFp32) {
    expect_no_worse_than_fp32([](auto& random) {
        const auto magnitude = std::exp2(uniform(random, -10, 10));
        return random() % 2 == 0 ? magnitude : -magnitude;
    });
}

// With positive inputs, errors in one direction add up and do not cancel.
TEST_F(SumErrors, OfPositiveInputsAreNoLargerThanThoseOfFp32) {
    expect_no_worse_than_fp32([](auto& random) { return uniform(random, 0, 1); });
}

// Each changed kernel must fail the operation's checks, or give a wrong product of numbers that these checks do not
// use.
class SplitMutants : public TensorSplitTiled {
protected:
    static constexpr const char* fragments = "tensor_split_tiled/split_fragments.h";

    std::optional<std::string> verdict(const Binary& binary, const TestbedBinaries& tools) {
        const auto some = problem(40, 36, 72);
        const auto launch = launch_of(kernel, parse_configuration(way), some, backend->device());
        const auto device = open_host({.seed = 1});
        Testbed testbed(*device, kernel.operation, some, tools, 5);
        try {
            return testbed.verify(ConfiguredKernel(load(*device, binary, launch), launch)).wrong;
        } catch (const std::exception& error) {  // some threads do not reach a barrier
            return error.what();
        }
    }
};

TEST_F(SplitMutants, AreFoundByTheChecks) {
    const auto tools = compile_testbed(*compiler, kernel, problem(1, 1, 1));
    EXPECT_EQ(verdict(compiled(), tools), std::nullopt);
    const std::vector<Change> changes{
        {fragments, "multiply_add<Element>(sums[j], small_a, big_b[j][0], big_b[j][1])", ""},
        {fragments, "multiply_add<Element>(sums[j], big_a, small_b[j][0], small_b[j][1])", ""},
        {fragments, "multiply_add<Element>(big_sums[j], big_a, big_b[j][0], big_b[j][1])", ""},
        {fragments, "small_a, big_b[j][0], big_b[j][1])", "small_a, small_b[j][0], small_b[j][1])"},
        {fragments, "big_a, small_b[j][0], small_b[j][1])", "big_a, small_b[j][1], small_b[j][0])"},
        {fragments, "value - __uint_as_float(big)", "__uint_as_float(big) - value"},
        {fragments, "value - __uint_as_float(big)", "0.0F"},
        {fragments, "accumulators.sums[i][j][n] += sum", "accumulators.sums[i][j][n] = sum"},
        {fragments, "big_sums[j][n];", "sums[j][n];"},
        {fragments, "if (CAREFUL && is_finite(__float_as_uint(sums[j][n])))", "if (CAREFUL)"},
        {fragments, "__syncthreads_or(has_nan)", "has_nan"},
        {fragments, "has_nan |= ", "has_nan = false && "},
        {"tensor_split_tiled.cu", "multiply_guarded<SplitFragments<true>>", "multiply_guarded<SplitFragments<false>>"},
        {"tensor_split_tiled.cu", "multiply_k_tiles<SplitFragments<false>>", "multiply_k_tiles<Fragments>"},
        {"tensor_split_tiled.cu", "        accumulators = {};\n", ""},
    };
    for (const auto& change : changes) {
        EXPECT_NE(verdict(compiled(change), tools), std::nullopt) << change.from << " -> " << change.to;
    }
}

TEST_F(SplitMutants, OfTheLargestNumbersAreFoundByTheirProducts) {
    const auto got = products(
        compiled({fragments, "if (CAREFUL && !is_finite(big) && is_finite(word)) big = word & 0xffffe000u;", ""}),
        {largest, 0.5F});
    EXPECT_FALSE(std::isfinite(got[1])) << "the test above would not notice a number that is rounded to infinity";
}

}  // namespace
}  // namespace smemtune
