#include "tuner/trial/testbed.h"

#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/scripted.h"
#include "tests/tuner/support.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/tolerance.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Testbed::Verdict made_up_verdict(const std::string& source, const std::string& manifest, const Problem& problem) {
    const auto kernel = load_templates({{"made_up.cu", source}, {"made_up.toml", manifest}}).front();
    const auto device = find_device("host").device;
    static const auto compiler = make_compiler(device, {.host_compiler = SMEMTUNE_CXX});
    static const auto backend = open_backend("host", {.seed = 1, .threads = 1});
    // The key is the operation. In these tests, each operation has one type and one layout.
    static std::map<std::string, TestbedBinaries> binaries;
    const auto& operation = kernel.operation.name;
    if (!binaries.contains(operation)) binaries[operation] = compile_testbed(*compiler, kernel, problem);
    Testbed testbed(*backend, kernel.operation, problem, binaries.at(operation), 1);
    const auto compiled = compiler->compile(program_of(kernel, {}, problem));
    if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
        return {.wrong = "does not compile: " + rejection->reason};
    }
    const ConfiguredKernel configured(backend->load(std::get<Binary>(compiled), 0),
                                      launch_of(kernel, {}, problem, device));
    return testbed.verify(configured);
}

class OtherVersion : public Compiler {
public:
    explicit OtherVersion(std::string version, std::string target = "target")
        : version_(std::move(version)), target_(std::move(target)) {}
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program&) const override { return Rejection{}; }
    [[nodiscard]] std::string target() const override { return target_; }
    [[nodiscard]] std::string version() const override { return version_; }

private:
    std::string version_, target_;
};

TEST(VerificationIdentity, BeginsWithTheOperationsAndEndsWithTheTestbeds) {
    const auto& templates = builtin_templates();
    const auto& kernel = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    const auto problem = gemm(19, 23, 17);
    const OtherVersion compiler("1");
    const auto identity = verification_identity(kernel, problem, compiler);
    EXPECT_EQ(identity, operation_identity(kernel, problem) + "/" +
                            testbed_identity(testbed_parts(kernel.operation, problem, compiler)));
    EXPECT_EQ(identity, verification_identity(kernel, gemm(1, 2, 3), compiler)) << "it holds for every size";
    TrialRecord trial{.verified_by = identity};
    EXPECT_TRUE(trial.was_verified_as(operation_identity(kernel, problem)));
    EXPECT_FALSE(trial.was_verified_as("0"));
}

TEST(VerificationIdentity, ChangesWithEachPartOfTheTestbed) {
    const TestbedParts parts{.kernels = {{"a.cu", "x"}, {"b.cu", "y"}},
                             .type = "f32",
                             .unit_roundoff = 0x1p-24,
                             .rules = 1,
                             .tolerance = 2,
                             .target = "sm_90a",
                             .compiler = "nvrtc 13.0"};
    std::set<std::string> identities{testbed_identity(parts)};
    const auto add = [&](const std::function<void(TestbedParts&)>& change) {
        auto changed = parts;
        change(changed);
        identities.insert(testbed_identity(changed));
    };
    const std::vector<std::function<void(TestbedParts&)>> changes{
        [](TestbedParts& its) { its.kernels["a.cu"] = "z"; },
        [](TestbedParts& its) { its.kernels["b.cu"] = "z"; },
        [](TestbedParts& its) { its.kernels["c.cu"] = ""; },
        [](TestbedParts& its) { its.type = "f64"; },
        [](TestbedParts& its) { its.unit_roundoff = 0x1.8p-24; },
        [](TestbedParts& its) { its.product_terms = 8; },
        [](TestbedParts& its) { its.product_terms = 1; },
        [](TestbedParts& its) { its.rules = 3; },
        [](TestbedParts& its) { its.tolerance = 3; },
        [](TestbedParts& its) { its.output_rules = 1; },
        [](TestbedParts& its) { its.target = "sm_100"; },
        [](TestbedParts& its) { its.compiler = "nvrtc 13.1"; },
        [](TestbedParts& its) { std::swap(its.rules, its.tolerance); },
        [](TestbedParts& its) { std::swap(its.target, its.compiler); },
    };
    for (const auto& change : changes) add(change);
    EXPECT_EQ(identities.size(), 1 + changes.size()) << "two of them have the same identity";
    EXPECT_EQ(testbed_identity(parts), "b726b1880ff0a2a7144e2473f7fcadac") << "stored trials no longer count";
}

TEST(VerificationIdentity, HasEachPartOfTheTestbedThatVerifies) {
    const auto parts = testbed_parts(Operation{}, gemm(19, 23, 17), OtherVersion("1", "a target"));
    std::map<std::string, std::string> files;
    const auto folder = std::filesystem::path(SMEMTUNE_SOURCE_DIR) / "tuner/trial";
    for (const auto& entry : std::filesystem::directory_iterator(folder / "kernels")) {
        files[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
    }
    EXPECT_EQ(parts.kernels, files);
    EXPECT_EQ(parts.type, "f32");
    EXPECT_EQ(parts.unit_roundoff, 0x1p-24);
    EXPECT_EQ(parts.rules, 1);
    EXPECT_EQ(parts.tolerance, 2);
    EXPECT_EQ(parts.target, "a target");
    EXPECT_EQ(parts.compiler, "1");
    EXPECT_EQ(parts.product_terms, 0);
    EXPECT_EQ(testbed_parts(Operation{}, gemm(19, 23, 17, "3xtf32"), OtherVersion("1")).product_terms, 8);
}

TEST(VerificationIdentity, OfBuiltInOperationsLacksTheRuleOfOutputsThatAreFilledAgain) {
    for (const auto& kernel : builtin_templates()) {
        EXPECT_FALSE(fills_outputs_again(kernel.operation)) << kernel.name << ": its stored trials would not count";
    }
    auto operation = builtin_templates().front().operation;
    for (auto& check : operation.checks) check.poison = true;
    EXPECT_EQ(testbed_parts(operation, gemm(1, 1, 1), OtherVersion("1")).output_rules, 1);
    for (auto& argument : operation.arguments) argument.is_read = true;
    EXPECT_FALSE(fills_outputs_again(operation)) << "its kernels may read all outputs";
}

// The constants of both error rules in version 2. Raise tolerance_version when you change one, because stored trials
// were verified with the old value.
TEST(VerificationIdentity, TheTolerancesAreThoseOfTheirVersion) {
    EXPECT_EQ(tolerance_version, 2);
    EXPECT_EQ(element_lambda, 8);
    EXPECT_EQ(rms_lambda, 2);
}

// Verifies a kernel that writes 2 * in[i] to out[i]. `write` is its statement. `magnitude` and `value` are the
// reference's expression and statement.
std::string verdict_of_doubled(const std::string& write, const std::string& magnitude = "fabs(value[i])",
                               const std::string& operation = "doubled", std::int64_t n = 1,
                               const std::string& value = "value[i] = 2 * (double)in[i]",
                               const std::string& checks = "{ inputs = \"uniform\" }") {
    const std::string source =
        "__global__ void made_up(int n, const float* in, float* out) {\n"
        "    const int i = blockIdx.x * 32 + threadIdx.x;\n    if (i < n) " +
        write +
        ";\n}\n"
        "__global__ void reference(int n, const float* in, float*, double* value, double* m) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i >= n) return;\n    " +
        value + ";\n    m[i] = " + magnitude + ";\n}\n";
    const std::string manifest = R"toml(
[template]
name = "made_up"
operation = "NAME"
types = ["f32"]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
[operation]
name = "NAME"
extents = ["n"]
operations = "0"
bytes = "0"
terms = "1"
reference = "made_up.cu"
argument = [{ name = "n", kind = "extent" }, { name = "in", kind = "input", rows = "1", columns = "n" },
            { name = "out", kind = "output", rows = "1", columns = "n" }]
check = [CHECKS]
)toml";
    auto text = manifest;
    text.replace(text.find("CHECKS"), 6, checks);
    for (auto at = text.find("NAME"); at != std::string::npos; at = text.find("NAME")) text.replace(at, 4, operation);
    return made_up_verdict(source, text, {operation, "f32", "", {{"n", n}}}).wrong.value_or("");
}

TEST(OutputsBeforeALaunch, AKernelThatReadsAnOutputIsFoundEvenIfItIgnoresNans) {
    for (const std::int64_t n : {1, 2, 100}) {
        const auto verdict = [&](const std::string& write) {
            return verdict_of_doubled(write, "fabs(value[i])", "doubled", n);
        };
        EXPECT_EQ(verdict("out[i] = 2 * in[i]"), "");
        EXPECT_THAT(verdict("out[i] = 2 * in[i] + 0 * out[i]"), HasSubstr("is nan, not"));
        EXPECT_THAT(verdict("out[i] = fmaxf(out[i], 2 * in[i])"),
                    AllOf(HasSubstr("(uniform inputs), if outputs hold large numbers before the launch: the kernel "
                                    "reads an output"),
                          HasSubstr("write kind = \"inout\"")));
        EXPECT_THAT(verdict("out[i] = fminf(out[i], 2 * in[i])"),
                    HasSubstr("if outputs hold large negative numbers before the launch"));
        EXPECT_THAT(verdict("if (isnan(out[i])) out[i] = 2 * in[i]"), HasSubstr("if outputs hold large numbers"));
    }
}

TEST(Magnitudes, ThatAreNegativeOrNotFiniteAreErrorsOfTheReference) {
    int operation = 0;
    for (const auto& [magnitude, text] : {std::pair{"INFINITY", "inf"}, {"NAN", "nan"}, {"-1", "-1"}}) {
        try {
            verdict_of_doubled("out[i] = 7", magnitude, "doubled_" + std::to_string(++operation));
            ADD_FAILURE() << magnitude << ": nothing was thrown";
        } catch (const ReferenceError& error) {
            EXPECT_THAT(error.what(), HasSubstr(std::string("the reference gives element 0 of out the magnitude ") +
                                                text + "; a magnitude must be a finite number of at least 0"));
        }
    }
}

TEST(References, ThatDoNotWriteEveryElementAreErrors) {
    const auto error_of = [](const std::string& value, const std::string& magnitude, const std::string& operation,
                             std::int64_t n = 40, const std::string& checks = "{ inputs = \"uniform\" }") {
        try {
            verdict_of_doubled("out[i] = 2 * in[i]", magnitude, operation, n, value, checks);
            return std::string("nothing was thrown");
        } catch (const ReferenceError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(error_of("if (i < 33) value[i] = 2.0 * in[i]", "1", "half_a_value"),
              "the reference does not write the value of element 33 of out; it must write, not add to, every element");
    EXPECT_EQ(error_of("if (i < n - 1) value[i] = 2.0 * in[i]", "1", "all_but_the_last", 1'000'000),
              "the reference does not write the value of element 999999 of out; it must write, not add to, every "
              "element");
    const std::string half = "if (i < 33) value[i] = 2.0 * in[i]";
    EXPECT_THAT(error_of(half, "1", "only_special", 40, "{ inputs = \"special\" }"), HasSubstr("value of element 33"));
    EXPECT_THAT(error_of("if (in[i] != (int)in[i]) value[i] = 2.0 * in[i]", "1", "no_integers", 40,
                         "{ inputs = \"uniform\" }, { inputs = \"integer\" }"),
                HasSubstr("the reference does not write the value of element 0"));
    EXPECT_EQ(error_of("value[i] = 2.0 * in[i]", "m[i]", "no_magnitude"),
              "the reference does not write the magnitude of element 0 of out; it must write, not add to, every "
              "element");
}

// A device that reports `free` bytes of free memory, and counts the bytes that are allocated.
class Tight : public Scripted {
public:
    explicit Tight(std::size_t free) : free_(free) {}
    [[nodiscard]] std::size_t free_bytes() override { return free_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        allocated += bytes;
        return Scripted::allocate(bytes);
    }
    std::size_t allocated = 0;

private:
    std::size_t free_;
};

TEST(TestbedMemory, ChecksStayPreparedAsFarAsFreeMemoryHasRoom) {
    std::vector<std::size_t> prepared;
    for (const std::size_t free : {std::size_t{1} << 30, std::size_t{100'000}, std::size_t{1}}) {
        Tight device(free);
        const auto testbed = testbed_on(device);
        prepared.push_back(device.allocated);
    }
    EXPECT_GT(prepared[0], prepared[1]);
    EXPECT_GT(prepared[1], prepared[2]);
}

// Verifies a kernel for 19x23x17 products on the host device. The kernel is right unless a test changes its source.
class TestbedTest : public ::testing::Test {
protected:
    static constexpr const char* source = R"(
#include "configuration.h"
extern "C" __global__ void made_up(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                   const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    Element sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    Element* c = C + row * ldc + column;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)";
    static constexpr const char* manifest = R"toml(
[template]
name = "made_up"
operation = "gemm"
types = ["f32"]
layouts = ["nn"]
[launch]
block = ["8", "8"]
grid = ["ceil_div(N, 8)", "ceil_div(M, 8)"]
[requires]
host = true
)toml";

    // Replaces `from` by `to` in the kernel. Returns the testbed's message about the kernel, or "" if the kernel is
    // right.
    static std::string verdict_of(const std::string& from, const std::string& to,
                                  const Problem& problem = gemm(19, 23, 17)) {
        std::string text = source;
        if (!from.empty()) text.replace(text.find(from), from.size(), to);
        const auto verdict = made_up_verdict(text, manifest, problem);
        worst = verdict.worst;
        return verdict.wrong.value_or("");
    }

    static inline double worst = 0;
};

TEST_F(TestbedTest, ARightKernelIsRight) {
    EXPECT_EQ(verdict_of("", ""), "");
    EXPECT_GT(worst, 0) << "rounding is seen";
    EXPECT_LT(worst, 1) << "and within its bound";
}

TEST_F(TestbedTest, ARightKernelIsRightAtEveryAwkwardSize) {
    for (const auto& problem : {gemm(1, 1, 1), gemm(1, 1000, 3), gemm(127, 65, 257), gemm(2, 1, 31), gemm(33, 31, 1)}) {
        EXPECT_EQ(verdict_of("", "", problem), "") << to_text(problem);
    }
}

TEST_F(TestbedTest, AWriteBeforeTheOutputIsFound) {
    EXPECT_THAT(verdict_of("Element* c =", "C[-1] = 0; Element* c ="), HasSubstr("writes outside C"));
}

TEST_F(TestbedTest, AWriteBehindTheOutputIsFound) {
    EXPECT_THAT(verdict_of("Element* c =", "C[M * ldc] = 0; Element* c ="), HasSubstr("writes outside C"));
}

// Each kernel copies a value from beyond the end of a matrix to a place beyond the end of C.
TEST_F(TestbedTest, ACopyFromOutsideToOutsideIsFound) {
    EXPECT_THAT(verdict_of("Element* c =", "C[M * ldc] = A[M * lda]; Element* c ="), HasSubstr("writes outside C"));
    EXPECT_THAT(verdict_of("Element* c =", "C[M * ldc + 1] = C[M * ldc]; Element* c ="), HasSubstr("writes outside C"));
}

TEST_F(TestbedTest, AWriteBetweenTheRowsIsFoundWhereRowsArePadded) {
    const auto wrong = verdict_of("Element* c =", "if (ldc > N) C[row * ldc + N] = 0; Element* c =");
    EXPECT_THAT(wrong, HasSubstr("writes between the rows of C"));
    EXPECT_THAT(wrong, HasSubstr("(integer inputs)")) << "the check whose rows are padded";
}

TEST_F(TestbedTest, AnElementThatIsNeverWrittenIsFound) {
    EXPECT_THAT(verdict_of("*c = beta", "if (row != 18 || column != 22) *c = beta"), HasSubstr("C[18,22] is nan"));
}

TEST_F(TestbedTest, ADroppedTailOfTheSumIsFound) {
    EXPECT_THAT(verdict_of("k < K;", "k < K / 8 * 8;"), HasSubstr("C[0,0] is "));
}

TEST_F(TestbedTest, ADroppedTailIsFoundEvenWhereItIsOneTermOfThousands) {
    EXPECT_THAT(verdict_of("k < K;", "k < K - 1;", gemm(2, 2, 5000)), HasSubstr("is "));
}

TEST_F(TestbedTest, RoundedInputsAreFound) {
    EXPECT_THAT(verdict_of("A[row * lda + k] *", "(Element)(int)(A[row * lda + k] * 1024) / 1024 *"),
                HasSubstr("(uniform inputs)"));
}

TEST_F(TestbedTest, AStrideTakenForAnExtentIsFound) {
    EXPECT_THAT(verdict_of("A[row * lda + k]", "A[row * K + k]"), HasSubstr("(integer inputs)"));
    EXPECT_THAT(verdict_of("C + row * ldc", "C + row * N"), HasSubstr("(integer inputs)"));
}

TEST_F(TestbedTest, SwappedInputsAreFoundAtASquareSize) {
    EXPECT_THAT(verdict_of("A[row * lda + k] * B[k * ldb + column]", "B[row * ldb + k] * A[k * lda + column]",
                           gemm(16, 16, 16)),
                AllOf(HasSubstr("C[0,0] is "), HasSubstr("(uniform inputs)")));
}

TEST_F(TestbedTest, AForgottenScalarIsFound) {
    EXPECT_THAT(verdict_of("alpha * sum + beta * *c", "sum + beta * *c"), HasSubstr("(integer inputs)"));
    EXPECT_THAT(verdict_of("alpha * sum + beta * *c", "alpha * sum"), HasSubstr("(integer inputs)"));
}

TEST_F(TestbedTest, AnOutputThatIsForgottenWhereRowsArePackedIsFound) {
    EXPECT_THAT(verdict_of("alpha * sum + beta * *c", "alpha * sum + (ldc == N ? 0 : beta * *c)"),
                HasSubstr("(inputs with zeros and infinities)"));
    EXPECT_NE(verdict_of("alpha * sum + beta * *c", "alpha * sum + (ldc % 4 == 0 ? 0 : beta * *c)", gemm(20, 24, 17)),
              "");
}

TEST_F(TestbedTest, AnOutputThatIsForgottenWhereRowsArePaddedAndAlignedIsFound) {
    EXPECT_NE(verdict_of("alpha * sum + beta * *c", "alpha * sum + (ldc % 4 == 0 && ldc > N ? 0 : beta * *c)"), "");
}

TEST_F(TestbedTest, AnOutputThatIsForgottenWhereBetaIsOneIsFound) {
    EXPECT_THAT(verdict_of("beta == 0 ?", "beta == 0 || beta == 1 ?"), HasSubstr("is "));
}

TEST_F(TestbedTest, AnAddressThatIsTakenForAlignedIsFound) {
    EXPECT_THAT(
        verdict_of("Element sum = 0;", "Element sum = 0; A = (const Element*)((unsigned long long)A / 16 * 16);"),
        HasSubstr("is "));
    EXPECT_THAT(verdict_of("Element* c =", "C = (Element*)((unsigned long long)C / 16 * 16); Element* c ="),
                HasSubstr("is "));
}

TEST_F(TestbedTest, AStrideTakenForAnExtentWhereRowsAreAlignedIsFound) {
    EXPECT_THAT(
        verdict_of("A[row * lda + k]", "A[row * (lda % 4 == 0 && (unsigned long long)A % 16 == 0 ? K : lda) + k]"),
        HasSubstr("(integer inputs)"));
}

// Each element has an error of 16 units of roundoff. The bound for single elements allows this, but the bound for the
// root mean square of all errors does not.
TEST_F(TestbedTest, AnErrorThatAllElementsShareIsFound) {
    EXPECT_THAT(verdict_of("alpha * sum :", "alpha * sum * (1 + 0x1p-20f) :"),
                HasSubstr("C is less precise than its type"));
}

TEST_F(TestbedTest, AnInfinityThatIsLostOrMadeIsFound) {
    EXPECT_THAT(verdict_of("sum += A[row * lda + k]", "sum += (A[row * lda + k] > 3e38f ? 3e38f : A[row * lda + k])"),
                HasSubstr("(inputs with zeros and infinities)"));
    EXPECT_THAT(verdict_of("sum += A[row * lda + k] *", "if (A[row * lda + k] != 0) sum += A[row * lda + k] *"),
                HasSubstr("(inputs with zeros and infinities)"))
        << "zero times infinity";
}

TEST_F(TestbedTest, AReadOfInputsThoughNothingIsSummedIsFound) {
    EXPECT_THAT(verdict_of("for (int k = 0; k < K; ++k)", "for (int k = 0; k < (K == 0 ? 17 : K); ++k)"),
                HasSubstr("is "));
}

TEST_F(TestbedTest, AnOutputThatIsReadThoughBetaIsZeroIsFound) {
    EXPECT_THAT(verdict_of("beta == 0 ? alpha * sum :", "false ? 0 :"), HasSubstr("C[0,0] is nan"));
}

// A wrong kernel may have written to the inputs that the next kernel reads.
TEST_F(TestbedTest, ARightKernelIsRightAfterOneThatOverwroteItsInputs) {
    const auto device = find_device("host").device;
    const auto compiler = make_compiler(device, {.host_compiler = SMEMTUNE_CXX});
    const auto backend = open_backend("host", {.seed = 1, .threads = 1});
    const auto problem = gemm(19, 23, 17);
    const auto kernel_of = [&](const std::string& text) {
        return load_templates({{"made_up.cu", text}, {"made_up.toml", manifest}}).front();
    };
    const auto right = kernel_of(source);
    std::string text = source;
    const std::string write = "    *c = ";
    text.replace(text.find(write), write.size(), "    const_cast<Element*>(A)[0] = 99;\n" + write);
    Testbed testbed(*backend, right.operation, problem, compile_testbed(*compiler, right, problem), 1);
    const auto verdict_on = [&](const KernelTemplate& kernel) {
        const auto compiled = std::get<Binary>(compiler->compile(program_of(kernel, {}, problem)));
        const ConfiguredKernel configured(backend->load(compiled, 0), launch_of(kernel, {}, problem, device));
        return testbed.verify(configured).wrong.value_or("");
    };
    EXPECT_EQ(verdict_on(kernel_of(text)), "writes to its input A");
    EXPECT_EQ(verdict_on(right), "");
}

TEST_F(TestbedTest, AWriteToAnInputIsFound) {
    EXPECT_EQ(verdict_of("    *c = ", "    const_cast<Element*>(B)[0] = 99;\n    *c = "), "writes to its input B");
}

// The kernel changes the first element of the guard band in front of B.
TEST_F(TestbedTest, AWriteAtTheBeginningOfAnInputsGuardIsFound) {
    EXPECT_EQ(verdict_of("    *c = ",
                         "    if ((unsigned long long)B % 16 == 0) const_cast<Element*>(B)[-1024] = 99;\n"
                         "    *c = "),
              "writes to its input B");
}

// The result is wrong by one bit. For inputs other than integers, rounding errors may be larger than one bit.
TEST_F(TestbedTest, AnErrorOfOneBitIsFoundWhereIntegersAreExact) {
    EXPECT_THAT(verdict_of("*c = beta == 0 ? alpha * sum : alpha * sum + beta * *c",
                           "*c = (beta == 0 ? alpha * sum : alpha * sum + beta * *c) * (1 + 0x1p-23f)"),
                HasSubstr("(integer inputs)"));
}

TEST_F(TestbedTest, AReadBehindAnInputIsFound) {
    EXPECT_THAT(verdict_of("Element sum = 0", "Element sum = B[K * ldb] * 0"), HasSubstr("is nan"));
}

TEST_F(TestbedTest, TheComplaintSaysWhatItIsAndWhatItShouldBe) {
    const auto wrong = verdict_of("alpha * sum :", "alpha * sum + 1000 :");
    EXPECT_THAT(wrong,
                ::testing::MatchesRegex(R"(C\[0,0\] is [0-9.]+, not -?[0-9.]+ \+- [0-9.e-]+ \(uniform inputs\))"));
}

// The operation has two outputs of different sizes. Each output has its own reference.
TEST(TwoOutputs, AreEachComparedWithTheirOwnReference) {
    const std::string right = R"(
#include "configuration.h"
extern "C" __global__ void made_up(int M, const Element* A, Element* B, Element* C) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    B[i] = 2 * A[i];
    if (i == 0) C[0] = A[0] + 3;
}
extern "C" __global__ void reference(int M, const Element* A, Element*, Element*, double* b, double* b_magnitude,
                                     double* c, double* c_magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    b[i] = 2.0 * A[i];
    b_magnitude[i] = b[i] < 0 ? -b[i] : b[i];
    if (i != 0) return;
    c[0] = A[0] + 3.0;
    c_magnitude[0] = 3 + (A[0] < 0 ? -A[0] : A[0]);
}
)";
    const auto* manifest = R"toml(
[operation]
name = "two_outputs"
extents = ["M"]
operations = "M"
bytes = "0"
terms = "2"
reference = "made_up.cu"
argument = [{ name = "M", kind = "extent" },
            { name = "A", kind = "input", rows = "1", columns = "M" },
            { name = "B", kind = "output", rows = "1", columns = "M" },
            { name = "C", kind = "output", rows = "1", columns = "1" }]
check = [{ inputs = "uniform" }]
[template]
name = "made_up"
operation = "two_outputs"
types = ["f32"]
[launch]
block = ["32"]
grid = ["ceil_div(M, 32)"]
[requires]
host = true
)toml";
    const auto verdict_of = [&](const std::string& from, const std::string& to) {
        auto text = right;
        text.replace(text.find(from), from.size(), to);
        return made_up_verdict(text, manifest, {"two_outputs", "f32", "", {{"M", 50}}}).wrong.value_or("");
    };
    EXPECT_EQ(verdict_of("2 *", "2 *"), "");
    EXPECT_THAT(verdict_of("2 * A[i]", "3 * A[i]"), HasSubstr("B[0,0] is "));
    EXPECT_THAT(verdict_of("A[0] + 3", "A[0] + 4"), HasSubstr("C[0,0] is "));
    EXPECT_THAT(verdict_of("C[0] = A[0] + 3", "C[0] = 2 * A[0]"), HasSubstr("C[0,0] is "));
}

// Verifies a kernel of `batched_gemm`, which is right unless a test changes its source.
class BatchedTestbed : public ::testing::Test {
protected:
    static constexpr const char* source = R"(
#include "configuration.h"
extern "C" __global__ void made_up(int BATCH, int M, int N, int K, Element alpha, const Element* A, long long lda,
                                   long long stride_a, const Element* B, long long ldb, long long stride_b,
                                   Element beta, Element* C, long long ldc, long long stride_c) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.z;
    if (row >= M || column >= N) return;
    Element sum = 0;
    for (int k = 0; k < K; ++k) sum += A[i * stride_a + row * lda + k] * B[i * stride_b + k * ldb + column];
    Element* c = C + i * stride_c + row * ldc + column;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)";
    static constexpr const char* manifest = R"toml(
[template]
name = "made_up"
operation = "batched_gemm"
types = ["f32"]
layouts = ["nn"]
[launch]
block = ["8", "8"]
grid = ["ceil_div(N, 8)", "ceil_div(M, 8)", "BATCH"]
[requires]
host = true
)toml";

    static std::string verdict_of(const std::string& from, const std::string& to,
                                  const Problem& problem = batched_gemm(4, 9, 13, 7)) {
        std::string text = source;
        if (!from.empty()) text.replace(text.find(from), from.size(), to);
        return made_up_verdict(text, manifest, problem).wrong.value_or("");
    }
};

TEST_F(BatchedTestbed, ARightKernelIsRightForOneMatrixAndForMany) {
    for (const auto batch : {1, 2, 300}) EXPECT_EQ(verdict_of("", "", batched_gemm(batch, 9, 13, 7)), "") << batch;
}

TEST_F(BatchedTestbed, AMatrixThatIsNeverWrittenIsFound) {
    EXPECT_THAT(verdict_of("if (row >= M ||", "if (i == 3 || row >= M ||"), HasSubstr("C[3,0,0] is nan"));
}

TEST_F(BatchedTestbed, AWriteBetweenTheMatricesIsFoundWhereTheyArePadded) {
    const auto wrong =
        verdict_of("Element* c =", "if (stride_c > M * ldc && i == 1) C[2 * stride_c - 1] = 0; Element* c =");
    EXPECT_THAT(wrong, HasSubstr("writes between the matrices of C"));
    EXPECT_THAT(wrong, HasSubstr("(integer inputs)")) << "the check whose matrices are padded";
}

TEST_F(BatchedTestbed, AWriteBetweenTheRowsOfAnyMatrixIsFound) {
    EXPECT_THAT(verdict_of("Element* c =", "if (ldc > N && i == 2) C[i * stride_c + N] = 0; Element* c ="),
                HasSubstr("writes between the rows of C"));
}

TEST_F(BatchedTestbed, AWriteBehindTheLastMatrixIsFound) {
    EXPECT_THAT(verdict_of("Element* c =", "C[BATCH * stride_c] = 0; Element* c ="), HasSubstr("writes outside C"));
}

TEST_F(BatchedTestbed, ABatchStrideTakenForAnExtentOrForAnothersIsFound) {
    EXPECT_THAT(verdict_of("i * stride_a", "i * M * lda"), HasSubstr("(integer inputs)"));
    EXPECT_THAT(verdict_of("i * stride_b", "i * K * ldb"), HasSubstr("(integer inputs)")) << "one B for all";
    EXPECT_THAT(verdict_of("i * stride_c", "i * M * ldc"), HasSubstr("(integer inputs)"));
    EXPECT_NE(verdict_of("i * stride_a", "i * stride_b"), "");
}

TEST_F(BatchedTestbed, AWriteToAnyMatrixOfAnInputIsFound) {
    EXPECT_EQ(verdict_of("    *c = ", "    const_cast<Element*>(A)[3 * stride_a] = 99;\n    *c = "),
              "writes to its input A");
}

TEST_F(BatchedTestbed, WhatNoMemoryCouldHoldIsRefused) {
    const auto most = std::int64_t{1} << 30;
    EXPECT_THROW(verdict_of("", "", batched_gemm(most, most, most, 1)), OutOfMemory);
}

}  // namespace
}  // namespace smemtune
