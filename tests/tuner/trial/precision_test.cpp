// Kernels that are less precise than their type are found at every K, by their errors alone. Correct kernels keep a
// margin.
#include <gmock/gmock.h>

#include <iostream>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tuner/trial/testbed.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

class Precision : public ::testing::Test {
protected:
    static constexpr std::array<std::int64_t, 7> depths{16, 64, 256, 1024, 4096, 16384, 65536};

    // `value(x, n)` is what the kernel takes for the element x of A (n = 0) or B (n = 1).
    static std::string source_of(const std::string& value) {
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
__device__ float value(float x, int n) { return )" +
               value + R"(; }
extern "C" __global__ void made_up(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                   const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    const int row = threadIdx.y, column = threadIdx.x;
    Element sum = 0;
    for (int k = 0; k < K; ++k) sum += value(A[row * lda + k], 0) * value(B[k * ldb + column], 1);
    Element* c = C + row * ldc + column;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)";
    }
    static constexpr const char* manifest = R"toml(
[template]
name = "made_up"
operation = "gemm"
types = ["f32"]
layouts = ["nn"]
[launch]
block = ["N", "M"]
grid = ["1"]
[requires]
host = true
)toml";

    // Verdicts on 16x16xK products for each K: on all checks or on the first one, which also judges competitors.
    static std::vector<Testbed::Verdict> verdicts_of(const std::string& value, bool first_check) {
        const auto kernel = load_templates({{"made_up.cu", source_of(value)}, {"made_up.toml", manifest}}).front();
        static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        static const auto backend = open_backend("host", {.seed = 1, .threads = 1});
        static const auto tools = compile_testbed(*compiler, kernel, gemm(16, 16, 16));
        const auto binary = std::get<Binary>(compiler->compile(program_of(kernel, {}, gemm(16, 16, 16))));
        std::vector<Testbed::Verdict> verdicts;
        for (const auto depth : depths) {
            const auto problem = gemm(16, 16, depth);
            Testbed testbed(*backend, kernel.operation, problem, tools, 1);
            const ConfiguredKernel configured(backend->load(binary, 0),
                                              launch_of(kernel, {}, problem, backend->device()));
            verdicts.push_back(first_check ? testbed.verify_first_check(configured) : testbed.verify(configured));
            std::cout << value << " K=" << depth << ": " << verdicts.back().worst << " of what is allowed; "
                      << verdicts.back().wrong.value_or("right") << '\n';
        }
        return verdicts;
    }
    static void expect_found(const std::string& value) {
        const auto verdicts = verdicts_of(value, true);
        for (std::size_t i = 0; i < depths.size(); ++i) EXPECT_NE(verdicts[i].wrong, std::nullopt) << depths[i];
    }
};

TEST_F(Precision, OfTheTypeIsRightAtEveryDepthWithAMargin) {
    for (const auto& verdict : verdicts_of("x", false)) {
        EXPECT_EQ(verdict.wrong, std::nullopt);
        EXPECT_LT(verdict.worst, 0.5) << "twice these errors would pass";
    }
}

TEST_F(Precision, OfTf32IsFoundAtEveryDepth) { expect_found("round_to(x, 13)"); }

TEST_F(Precision, OfTf32InOneOperandAloneIsFoundAtEveryDepth) { expect_found("n == 0 ? round_to(x, 13) : x"); }

TEST_F(Precision, OfBf16IsFoundAtEveryDepth) { expect_found("round_to(x, 16)"); }

TEST_F(Precision, WithoutTheLowBitsIsFoundAtEveryDepth) { expect_found("keep(x, 13)"); }

TEST_F(Precision, WithoutTheLowBitsOfBAloneIsFoundAtEveryDepth) { expect_found("n == 1 ? keep(x, 13) : x"); }

}  // namespace
}  // namespace smemtune
