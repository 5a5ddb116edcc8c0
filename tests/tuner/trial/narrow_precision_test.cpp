// Tests products of f16, bf16 and tf32. Right kernels must pass at every K, and kernels that lose precision in any step
// must be detected.
#include <gmock/gmock.h>

#include <functional>

#include "tests/tuner/trial/made_up_kernels.h"

namespace smemtune {
namespace {

struct NarrowKernel {
    std::string value = "x";  // what the kernel uses in place of the element x of A (n = 0) or B (n = 1)
    std::string sum = "sum";  // what the kernel keeps of its sum after each product
    std::string result = "from_float<Element>(c)";
};

class NarrowPrecision : public ::testing::TestWithParam<const char*> {
protected:
    static std::string source_of(const NarrowKernel& how) {
        return R"(
#include "configuration.h"
#include "device/half.h"
__device__ float keep(float x, int significand_bits) {  // to nearest, ties to even
    FloatWord word;
    word.value = x;
    const int dropped = 24 - significand_bits;
    word.bits += (1u << (dropped - 1)) - 1 + (word.bits >> dropped & 1);
    word.bits = word.bits >> dropped << dropped;
    return word.value;
}
template <class T>
__device__ T cut(float x) {  // rounds towards zero
    T nearest = from_float<T>(x);
    if (fabs(to_float(nearest)) > fabs(x)) --nearest.bits;
    return nearest;
}
template <>
__device__ float cut<float>(float x) { return keep(x, 11); }  // TF32 uses 11 significand bits of an input
__device__ float value(float x, int n) { return )" +
               how.value + R"(; }
extern "C" __global__ void made_up(int M, int N, int K, float alpha, const Element* A, long long lda,
                                   const Element* B, long long ldb, float beta, Element* C, long long ldc) {
    const int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) {
        sum += value(to_float(A[row * lda + k]), 0) * value(to_float(B[k * ldb + column]), 1);
        sum = )" +
               how.sum + R"(;
    }
    Element* to = C + row * ldc + column;
    const float c = beta == 0 ? alpha * sum : alpha * sum + beta * to_float(*to);
    *to = )" + how.result +
               R"(;
}
)";
    }

    // Verifies each kernel with all checks.
    static void verify(const std::vector<NarrowKernel>& kernels, const std::vector<std::int64_t>& depths,
                       const std::function<void(const Testbed::Verdict&)>& expect) {
        std::vector<MadeUpKernel> made_up;
        for (const auto& how : kernels) {
            made_up.push_back({how.value + "; " + how.sum + "; " + how.result, source_of(how)});
        }
        verify_made_up(made_up, GetParam(), Checks::all, depths,
                       [&](std::size_t, std::int64_t, const Testbed::Verdict& verdict) { expect(verdict); });
    }
    static bool is_bf16() { return std::string(GetParam()) == "bf16"; }
    static std::string bits() { return is_bf16() ? "8" : "11"; }
    static std::string fewer_bits() { return is_bf16() ? "5" : "8"; }
};

TEST_P(NarrowPrecision, OfTheTypeIsRightAtEveryDepth) {
    verify({NarrowKernel{}}, {1, 16, 64, 1024, 65536}, [](const Testbed::Verdict& verdict) {
        EXPECT_EQ(verdict.wrong, std::nullopt);
        EXPECT_LE(verdict.worst, 1);
        EXPECT_GT(verdict.worst, std::string(GetParam()) == "tf32" ? 0 : 0.1) << "a result is rounded to its type";
    });
}

// Tensor cores round their inputs to the type. The inputs of the checks have that type's precision, so nothing is lost.
TEST_P(NarrowPrecision, OfInputsThatAreRoundedToTheTypeIsRight) {
    verify({{.value = "keep(x, " + bits() + ")"}}, {64, 1024},
           [](const Testbed::Verdict& verdict) { EXPECT_EQ(verdict.wrong, std::nullopt); });
}

TEST_P(NarrowPrecision, BelowThatOfTheTypeIsFoundAtEveryDepth) {
    const std::vector<NarrowKernel> kernels{
        {.value = "keep(x, " + fewer_bits() + ")"},               // inputs with fewer bits
        {.value = "n == 1 ? keep(x, " + fewer_bits() + ") : x"},  // one input with fewer bits
        {.sum = "keep(sum, " + bits() + ")"},                     // sums in the narrow type
        {.result = "cut<Element>(c)"}};                           // a result that is cut off
    verify(kernels, {64, 1024, 16384}, [](const Testbed::Verdict& verdict) { EXPECT_NE(verdict.wrong, std::nullopt); });
}

INSTANTIATE_TEST_SUITE_P(Types, NarrowPrecision, ::testing::Values("f16", "bf16", "tf32"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace smemtune
