// Kernels that are less precise than their type must be detected at every K, from their errors alone. The errors of
// right kernels must stay below half of the bound.
#include <gmock/gmock.h>

#include <functional>
#include <iostream>

#include "tests/tuner/trial/made_up_kernels.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

class Precision : public ::testing::TestWithParam<std::string> {
protected:
    static inline const std::vector<std::int64_t> all_depths{16, 64, 256, 1024, 4096, 16384, 65536};

    // `product` is the expression that the kernel sums over K, for elements x of A and y of B.
    static std::string source_of(const std::string& product) {
        return R"(
#include "configuration.h"
union Bits { float value; unsigned bits; };
__device__ float keep(float x, int dropped) {  // truncates
    Bits word;
    word.value = x;
    word.bits = word.bits >> dropped << dropped;
    return word.value;
}
__device__ float round_to(float x, int dropped) {  // to nearest, ties to even
    Bits word;
    word.value = x;
    word.bits += (1u << (dropped - 1)) - 1 + (word.bits >> dropped & 1);
    word.bits = word.bits >> dropped << dropped;
    return word.value;
}
// split() computes x * y as three products of numbers with 11 significand bits. It leaves out low(x) * low(y).
__device__ float low(float x) { return keep(x - round_to(x, 13), 13); }
__device__ float small_products(float x, float y) { return low(x) * round_to(y, 13) + round_to(x, 13) * low(y); }
__device__ float big_product(float x, float y) { return round_to(x, 13) * round_to(y, 13); }
// The low bits of an infinity are NaN (infinity minus infinity), so split() does not use them.
__device__ float split(float x, float y) {
    return (isfinite(x) && isfinite(y) ? small_products(x, y) : 0) + big_product(x, y);
}
// The s of tolerance.h for one element of C. Its n, the number of rounded operations, is K + 3.
__device__ float scale(const float* a, const float* b, long long ldb, int K) {
    float value = 0, magnitude = 0;
    for (int k = 0; k < K; ++k) {
        value += a[k] * b[k * ldb];
        magnitude += fabsf(a[k] * b[k * ldb]);
    }
    return sqrtf((K + 3) * value * value + magnitude * magnitude);
}
extern "C" __global__ void made_up(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                   const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    const int row = threadIdx.y, column = threadIdx.x;
    Element sum = 0;
    for (int k = 0; k < K; ++k) {
        const float x = A[row * lda + k], y = B[k * ldb + column];
        sum += )" +
               product + R"(;
    }
    Element* c = C + row * ldc + column;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)";
    }
    // Verifies a kernel for each of `products`. Calls expect(product, verdict).
    static void verify(const std::vector<std::string>& products, Checks checks, const std::vector<std::int64_t>& depths,
                       const std::function<void(const std::string&, const Testbed::Verdict&)>& expect) {
        std::vector<MadeUpKernel> kernels;
        for (const auto& product : products) kernels.push_back({product, source_of(product)});
        verify_made_up(kernels, GetParam(), checks, depths,
                       [&](std::size_t i, std::int64_t depth, const Testbed::Verdict& verdict) {
                           expect(products[i], verdict);
                           std::cout << GetParam() << " " << products[i] << " K=" << depth << ": " << verdict.worst
                                     << " of what is allowed; " << verdict.wrong.value_or("right") << '\n';
                       });
    }
    // Runs the first check of one kernel at one K.
    static Testbed::Verdict verdict_of(const std::string& product, std::int64_t depth) {
        Testbed::Verdict result;
        verify({product}, Checks::first, {depth}, [&](const auto&, const auto& verdict) { result = verdict; });
        return result;
    }
};

TEST_P(Precision, OfTheTypeIsRightWithAMarginUnlessInfinitiesAreSplit) {
    const std::string right = GetParam() == "f32" ? "x * y" : "split(x, y)";
    const std::string split = "small_products(x, y) + big_product(x, y)";
    verify({right, split}, Checks::all, all_depths, [&](const std::string& product, const Testbed::Verdict& verdict) {
        if (product == split) {
            EXPECT_THAT(verdict.wrong, testing::Optional(HasSubstr("zeros and infinities")));
            return;
        }
        EXPECT_EQ(verdict.wrong, std::nullopt);
        EXPECT_LT(verdict.worst, 0.5) << "twice these errors would pass";
    });
}

TEST_P(Precision, BelowThatOfTheTypeIsFoundAtEveryDepth) {
    const std::vector<std::string> products{
        "round_to(x, 13) * round_to(y, 13)",              // TF32
        "round_to(x, 13) * y",                            // TF32 in one operand
        "round_to(x, 16) * round_to(y, 16)",              // BF16
        "keep(x, 13) * keep(y, 13)",                      // without the low bits
        "x * keep(y, 13)",                                // without the low bits of B
        "round_to(x, 13) * low(y) + big_product(x, y)"};  // without one of three products
    verify(products, Checks::first, all_depths, [](const std::string& /*product*/, const Testbed::Verdict& verdict) {
        EXPECT_NE(verdict.wrong, std::nullopt);
    });
}

// At K = 1, the n of tolerance.h is 4 for f32 and 12 for 3xtf32, so 3xtf32 may have larger errors than f32.
TEST_P(Precision, OfAProductMayErrByAsMuchAsItsThreeProductsDo) {
    for (const auto& [errors, is_right] : {std::pair{"2", true}, {"6", GetParam() == "3xtf32"}, {"32", false}}) {
        const auto product = "x * y + " + std::string(errors) + " * 0x1p-24f * x * y";
        EXPECT_EQ(verdict_of(product, 1).wrong == std::nullopt, is_right) << errors;
    }
}

// One element of 256 has half of the error that rule 1 of tolerance.h allows. The mean error of all elements is far
// below the limit of rule 2.
TEST_P(Precision, IsToldAsTheShareOfTheBoundThatTheWorstElementTakes) {
    const auto product =
        "x * y + (row == 3 && column == 5 && k == 0 ? 4 * 0x1p-24f * scale(A + 3 * lda, B + 5, ldb, K) : 0)";
    for (const std::int64_t depth : {1024, 4096}) {
        const auto verdict = verdict_of(product, depth);
        EXPECT_EQ(verdict.wrong, std::nullopt);
        EXPECT_NEAR(verdict.worst, 0.5, 0.1);
    }
}

// With u and s as in tolerance.h, rule 1 limits the error of each element to 8 u s. Rule 2 limits the root mean square
// of all errors to 2 u rms(s).
TEST_P(Precision, OfErrorsThatAllElementsShareIsFoundThoughEachIsWithinItsBound) {
    const auto verdict_with = [](const std::string& share) {
        return verdict_of("x * y + (k == 0 ? " + share + " * 0x1p-24f * scale(A + row * lda, B + column, ldb, K) : 0)",
                          1024);
    };
    EXPECT_THAT(verdict_with("4").wrong, testing::Optional(HasSubstr("C is less precise than its type")));
    EXPECT_EQ(verdict_with("1.5f").wrong, std::nullopt);
    EXPECT_NEAR(verdict_with("1.5f").worst, 0.75, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Types, Precision, ::testing::Values("f32", "3xtf32"),
                         [](const auto& instance) { return "Of_" + instance.param; });

}  // namespace
}  // namespace smemtune
