// Tests products of f16, bf16 and tf32. Right kernels must pass at every K, and kernels that lose precision in any step
// must be detected.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tuner/trial/testbed.h"

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

    // Verifies the kernel with all checks, at 16x16xK for each K in `depths`. Returns one verdict for each K.
    static std::vector<Testbed::Verdict> verdicts_of(const NarrowKernel& how, const std::vector<std::int64_t>& depths) {
        const std::string type = GetParam();
        const auto manifest = "[template]\nname = \"made_up\"\noperation = \"gemm\"\ntypes = [\"" + type +
                              "\"]\nlayouts = [\"nn\"]\n[launch]\nblock = [\"N\", \"M\"]\ngrid = [\"1\"]\n"
                              "[requires]\nhost = true\n";
        const auto kernel = load_templates({{"made_up.cu", source_of(how)}, {"made_up.toml", manifest}}).front();
        static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        static const auto backend = open_backend("host", {.seed = 1, .threads = 1});
        static std::map<std::string, TestbedBinaries> tools;
        const auto first = gemm(16, 16, 16, type);
        if (!tools.contains(type)) tools[type] = compile_testbed(*compiler, kernel, first);
        const auto binary = std::get<Binary>(compiler->compile(program_of(kernel, {}, first)));
        std::vector<Testbed::Verdict> verdicts;
        for (const auto depth : depths) {
            const auto problem = gemm(16, 16, depth, type);
            Testbed testbed(*backend, kernel.operation, problem, tools.at(type), 1);
            const ConfiguredKernel configured(backend->load(binary, 0),
                                              launch_of(kernel, {}, problem, backend->device()));
            verdicts.push_back(testbed.verify(configured));
        }
        return verdicts;
    }
    static void expect_found(const NarrowKernel& how) {
        const std::vector<std::int64_t> depths{64, 1024, 16384};
        const auto verdicts = verdicts_of(how, depths);
        for (std::size_t i = 0; i < depths.size(); ++i) EXPECT_NE(verdicts[i].wrong, std::nullopt) << depths[i];
    }
    static bool is_bf16() { return std::string(GetParam()) == "bf16"; }
    static std::string bits() { return is_bf16() ? "8" : "11"; }
    static std::string fewer_bits() { return is_bf16() ? "5" : "8"; }
};

TEST_P(NarrowPrecision, OfTheTypeIsRightAtEveryDepth) {
    for (const auto& verdict : verdicts_of({}, {1, 16, 64, 1024, 65536})) {
        EXPECT_EQ(verdict.wrong, std::nullopt);
        EXPECT_LE(verdict.worst, 1);
        EXPECT_GT(verdict.worst, std::string(GetParam()) == "tf32" ? 0 : 0.1) << "a result is rounded to its type";
    }
}

// Tensor cores round their inputs to the type. The inputs of the checks have that type's precision, so nothing is lost.
TEST_P(NarrowPrecision, OfInputsThatAreRoundedToTheTypeIsRight) {
    for (const auto& verdict : verdicts_of({.value = "keep(x, " + bits() + ")"}, {64, 1024})) {
        EXPECT_EQ(verdict.wrong, std::nullopt);
    }
}

TEST_P(NarrowPrecision, OfInputsWithFewerBitsIsFound) { expect_found({.value = "keep(x, " + fewer_bits() + ")"}); }

TEST_P(NarrowPrecision, OfOneInputWithFewerBitsIsFound) {
    expect_found({.value = "n == 1 ? keep(x, " + fewer_bits() + ") : x"});
}

TEST_P(NarrowPrecision, OfSumsInTheNarrowTypeIsFound) { expect_found({.sum = "keep(sum, " + bits() + ")"}); }

TEST_P(NarrowPrecision, OfAResultThatIsCutOffIsFound) { expect_found({.result = "cut<Element>(c)"}); }

INSTANTIATE_TEST_SUITE_P(Types, NarrowPrecision, ::testing::Values("f16", "bf16", "tf32"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace smemtune
