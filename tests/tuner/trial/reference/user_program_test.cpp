// Tests inputs that a user's kernel or function computes from other inputs.
#include "tuner/trial/reference/user_program.h"

#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

constexpr const char* lengths_source = R"(
__global__ void lengths(int n, const int* counts, const int* offsets, int* o) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = offsets[i + 1] - offsets[i];
}
__global__ void reference(int n, const int* counts, const int* offsets, const int*, int* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] = counts[i];
}
)";
constexpr const char* prepare_function = R"(
#include <numeric>
void prepare(int n, const int* counts, int* offsets, int* o) {
    offsets[0] = 0;
    std::partial_sum(counts, counts + n, offsets + 1);
}
)";
constexpr const char* prepare_kernel = R"(
__global__ void prepare(int n, const int* counts, int* offsets, int* o) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    offsets[i] = 0;
    for (int at = 0; at < i; ++at) offsets[i] += counts[at];
}
)";

std::string lengths_manifest(const std::string& keys, const std::string& values = "{ prepared = true }") {
    return "[operation]\nname = \"made_up\"\nextents = [\"n\"]\noperations = \"0\"\nbytes = \"0\"\nterms = \"0\"\n"
           "reference = \"lengths.cu\"\n" +
           keys + R"toml(
argument = [{ name = "n", kind = "extent" },
{ name = "counts", kind = "input", type = "i32", shape = ["n"], values = { uniform = [0, 9] } },
{ name = "offsets", kind = "input", type = "i32", shape = ["n + 1"], values = )toml" +
           values + R"toml( },
{ name = "o", kind = "output", type = "i32", shape = ["n"] }]
[template]
name = "lengths"
operation = "made_up"
types = ["f32"]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";
}

KernelTemplate lengths(const std::string& path, const std::string& text, const std::string& source = lengths_source) {
    return load_templates(
               {{"lengths.toml", lengths_manifest("prepare = \"" + path + "\"")}, {"lengths.cu", source}, {path, text}})
        .at(0);
}

std::string wrong_lengths(const KernelTemplate& kernel, bool batch = false) {
    const auto problem = typed_problem(100);
    auto& backend = typed_backend();
    Testbed testbed(backend, kernel.operation, problem, compile_testbed(typed_compiler(), kernel, problem), 1);
    const auto compiled = typed_compiler().compile(program_of(kernel, {}, problem));
    if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
    const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                      launch_of(kernel, {}, problem, backend.device()));
    return (batch ? testbed.verify_batch(configured, 100).wrong : testbed.verify(configured).wrong).value_or("");
}

std::string refused_lengths(const std::string& keys, const std::string& values) {
    try {
        (void)load_templates({{"lengths.toml", lengths_manifest(keys, values)},
                              {"lengths.cu", lengths_source},
                              {"prepare.cpp", prepare_function}});
        return "";
    } catch (const ManifestError& error) {
        return error.what();
    }
}

TEST(UserProgram, InputsAreComputedFromOthers) {
    for (const auto& [path, text] : {std::pair{"prepare.cpp", prepare_function}, {"prepare.cu", prepare_kernel}}) {
        const auto kernel = lengths(path, text);
        EXPECT_EQ(wrong_lengths(kernel), "") << path;
        EXPECT_EQ(wrong_lengths(kernel, true), "") << path << ", in every set of operands";
    }
}

TEST(UserProgram, AKernelMustNotWriteToThem) {
    std::string source = lengths_source;
    source.replace(source.find("if (i < n) o[i]"), 15,
                   "if (i == 3) const_cast<int*>(offsets)[5] = 1;\n    if (i < n) o[i]");
    EXPECT_EQ(wrong_lengths(lengths("prepare.cpp", prepare_function, source)), "writes to its input offsets");
}

TEST(UserProgram, ItMayWriteToNothingElse) {
    const auto failure = [](const std::string& text) -> std::string {
        try {
            return "nothing was thrown: " + wrong_lengths(lengths("prepare.cpp", text));
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    EXPECT_THAT(
        failure("void prepare(int n, int* counts, int* offsets, int* o) { counts[1] = 77; }"),
        HasSubstr(
            "'prepare' writes to counts, or outside it; it may write only to arguments with values = { prepared"));
    EXPECT_THAT(failure("void prepare(int n, int* counts, int* offsets, int* o) { offsets[n + 1] = 77; }"),
                HasSubstr("'prepare' writes to offsets, or outside it"));
    EXPECT_THAT(
        failure("void prepare(int n, float* counts, int* offsets, int* o) {}"),
        HasSubstr("by its manifest the prepare function takes (int n, const int* counts, const int* offsets, int* "
                  "o)"));
}

TEST(UserProgram, MistakesOfTheManifestAreRefused) {
    EXPECT_EQ(refused_lengths("prepare = \"prepare.cpp\"", "{ prepared = true }"), "");
    EXPECT_THAT(
        refused_lengths("", "{ prepared = true }"),
        HasSubstr("[operation] has no 'prepare', which computes argument 'offsets'; write for example prepare = "
                  "\"inputs.cpp\""));
    EXPECT_THAT(refused_lengths("prepare = \"prepare.cpp\"", "{ constant = 1 }"),
                HasSubstr("lengths.toml:8: [operation] 'prepare' computes nothing"));
    EXPECT_THAT(refused_lengths("prepare = \"prepare.cpp\"", "{ prepared = 1 }"),
                HasSubstr("'values' holds 'prepared', which is written prepared = true"));
    EXPECT_THAT(refused_lengths("prepare = \"prepare.py\"", "{ prepared = true }"),
                HasSubstr("lengths.toml:8: [operation] 'prepare' is 'prepare.py', which is no source"));
    EXPECT_THAT(refused_lengths("prepare = \"absent.cpp\"", "{ prepared = true }"),
                HasSubstr("lengths.toml:8: file 'absent.cpp' is missing"));
}

TEST(UserProgram, ItsSourceIsPartOfTheIdentity) {
    const auto identity = [](const std::string& text) {
        return operation_identity(lengths("prepare.cpp", text), typed_problem(1));
    };
    EXPECT_NE(identity(prepare_function), identity(std::string(prepare_function) + "// new\n"));
}

}  // namespace
}  // namespace smemtune
