// Tests verifiers that a user writes, from the manifest to the verdict on a kernel.
#include "tuner/trial/reference/verifier.h"

#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

constexpr const char* doubling_source = R"(
__global__ void doubling(int n, const float* a, float* o, int* keys) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    o[i] = a[i];
    keys[i] = FACTOR * keys[i];
}
)";
constexpr const char* verify_function = R"(
#include <cstdio>
void verify(int n, const float* a, const float* o, const int* keys, const int* before, char* message) {
    for (int i = 0; i < n; ++i) {
        if (keys[i] == 2 * before[i] && o[i] == a[i]) continue;
        std::snprintf(message, 1024, "key %d is\n%d after %d", i, keys[i], before[i]);
        return;
    }
}
)";
constexpr const char* verify_kernel = R"(
__global__ void verify(int n, const float* a, const float* o, const int* keys, const int* before, long long* wrong) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == n - 1 && (keys[i] != 2 * before[i] || o[i] != a[i])) *wrong = i + 1;
}
)";

KernelTemplate doubling(const std::string& verify, const std::string& text, const std::string& source = doubling_source,
                        const std::string& output = "") {
    const std::string manifest =
        "[operation]\nname = \"made_up\"\nextents = [\"n\"]\noperations = \"0\"\nbytes = \"0\"\n"
        "reference = { verify = \"" +
        verify + "\" }\n" + R"toml(
argument = [{ name = "n", kind = "extent" },
{ name = "a", kind = "input", type = "f32", shape = ["n"] },
{ name = "o", kind = "output", type = "f32", shape = ["n"] )toml" +
        output + R"toml(},
{ name = "keys", kind = "inout", type = "i32", shape = ["n"], values = { uniform = [1, 1000] } }]
[template]
name = "doubling"
operation = "made_up"
types = ["f32"]
[[parameter]]
name = "FACTOR"
values = [2, 3]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";
    return load_templates({{"doubling.toml", manifest}, {"doubling.cu", source}, {verify, text}}).at(0);
}

std::string verdict_of(const KernelTemplate& kernel, std::int64_t factor, bool batch = false) {
    const auto problem = typed_problem(100);
    auto& backend = typed_backend();
    Testbed testbed(backend, kernel.operation, problem, compile_testbed(typed_compiler(), kernel, problem), 1);
    const Configuration configuration{{{"FACTOR", factor}}};
    const auto compiled = typed_compiler().compile(program_of(kernel, configuration, problem));
    if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
    const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                      launch_of(kernel, configuration, problem, backend.device()));
    return (batch ? testbed.verify_batch(configured, 100).wrong : testbed.verify(configured).wrong).value_or("");
}

std::string failure_of(const KernelTemplate& kernel) {
    try {
        return "nothing was thrown: " + verdict_of(kernel, 2);
    } catch (const std::exception& error) {
        return error.what();
    }
}

TEST(Verifier, AFunctionSaysWhatIsWrong) {
    const auto kernel = doubling("verify.cpp", verify_function);
    EXPECT_EQ(verdict_of(kernel, 2), "");
    EXPECT_EQ(verdict_of(kernel, 2, true), "") << "it gets the values before each launch";
    EXPECT_THAT(verdict_of(kernel, 3), HasSubstr("'verify' says: key 0 is?")) << "a message has one line";
    EXPECT_THAT(verdict_of(kernel, 3, true), HasSubstr("after a batch of launches"));
}

TEST(Verifier, AKernelGivesANumber) {
    const auto kernel = doubling("verify.cu", verify_kernel);
    EXPECT_EQ(verdict_of(kernel, 2), "");
    EXPECT_EQ(verdict_of(kernel, 2, true), "");
    EXPECT_EQ(verdict_of(kernel, 3), "'verify' says that the outputs are wrong (100)");
    std::string negative = verify_kernel;
    negative.replace(negative.find("i + 1"), 5, "-7");
    EXPECT_EQ(verdict_of(doubling("verify.cu", negative), 3), "'verify' says that the outputs are wrong (-7)");
}

TEST(Verifier, WritesElsewhereAndMissingOnesAreFoundWithoutIt) {
    std::string accepts_all = verify_function;
    accepts_all.replace(accepts_all.find("i < n"), 5, "i < 0");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string source = doubling_source;
        source.replace(source.find(from), from.size(), to);
        return verdict_of(doubling("verify.cpp", accepts_all, source), 2);
    };
    EXPECT_THAT(with("o[i] = a[i]", "o[i + 1] = o[i] = a[i]"), HasSubstr("writes outside o"));
    EXPECT_THAT(with("o[i] = a[i];", ""), HasSubstr("writes nothing to o"));
    EXPECT_THAT(with("o[i] = a[i]", "o[i] = const_cast<float*>(a)[i] = 7"), HasSubstr("writes to its input a"));
}

TEST(Verifier, MistakesNameTheirRemedy) {
    EXPECT_THAT(failure_of(doubling("verify.cpp",
                                    "#include <stdexcept>\nvoid verify(int, const float*, const float*, "
                                    "const int*, const int*, char*) "
                                    "{ throw std::runtime_error(\"no licence\"); }\n")),
                HasSubstr("throws: no licence"));
    EXPECT_THAT(failure_of(doubling("verify.cpp", "bool verify(int n) { return true; }\n")), HasSubstr("verify.cpp"));
    EXPECT_THAT(
        failure_of(doubling("verify.cpp", "void verify(int n, const float* a, const float* o, int* keys) {}\n")),
        HasSubstr("by its manifest the verify function takes (int n, const float* a, float* o, int* keys, const int* "
                  "keys before, char* message)"));
    EXPECT_THAT(failure_of(doubling("verify.cu", "__global__ void verify(int n) {}\n")),
                HasSubstr("long long* wrong)"));
    const auto refusal = [](const std::string& verify, const std::string& output) -> std::string {
        try {
            (void)doubling(verify, verify_function, doubling_source, output);
            return "";
        } catch (const ManifestError& error) {
            return error.what();
        }
    };
    EXPECT_THAT(
        refusal("verify.cpp", ", tolerance = { relative = 1e-3 }"),
        HasSubstr("doubling.toml:6: [operation] 'reference' verifies by itself, but output 'o' has a tolerance; "
                  "leave the tolerance out"));
    EXPECT_THAT(refusal("verify.py", ""), HasSubstr("'verify' is 'verify.py', which is no source"));
    EXPECT_THAT(refusal("", ""), HasSubstr("'reference' holds 'verify', which must be a non-empty text"));
}

TEST(Verifier, ItsSourceIsPartOfTheIdentity) {
    const auto identity = [](const KernelTemplate& kernel) { return operation_identity(kernel, typed_problem(1)); };
    const auto kernel = doubling("verify.cpp", verify_function);
    EXPECT_NE(identity(kernel), identity(doubling("verify.cpp", std::string(verify_function) + "// new\n")));
    EXPECT_FALSE(is_unchecked(identity(kernel)));
}

}  // namespace
}  // namespace smemtune
