// Tests the testbed with typed operations. Also tunes and runs kernels of a user's own operation.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// The kernel makes a histogram of the bytes in `data`: for each byte, it adds the scalar `step` to one of the counts.
// It also divides the value of each byte by 2 and writes the result as a double.
constexpr const char* arguments =
    R"({ name = "data", kind = "input", type = "u8", shape = ["n"], values = { uniform = [0, 9] } },
    { name = "step", kind = "scalar", type = "u16", value = 3 },
    { name = "counts", kind = "inout", type = "u32", shape = ["10"], values = { uniform = [0, 1000] } },
    { name = "halves", kind = "output", type = "f64", shape = ["n"] })";
constexpr const char* source = R"(
__global__ void made_up(int n, const unsigned char* data, unsigned short step, unsigned* counts, double* halves) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&counts[data[i]], (unsigned)step);
    halves[i] = data[i] / 2.0;
}
__global__ void reference(int n, const unsigned char* data, unsigned short step, const unsigned* counts, double*,
                          unsigned* sums, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    value[i] = magnitude[i] = data[i] / 2.0;
    if (i >= 10) return;
    sums[i] = counts[i];
    for (int at = 0; at < n; ++at) sums[i] += data[at] == i ? step : 0;
}
)";

class TypedTestbed : public ::testing::Test {
protected:
    static std::string wrong_of(const std::string& from, const std::string& to, bool batch = false) {
        std::string text = source;
        if (!from.empty()) text.replace(text.find(from), from.size(), to);
        const auto kernel = typed_template(arguments, text, "1");
        const auto problem = typed_problem(100);
        auto& backend = typed_backend();
        static const auto binaries = compile_testbed(typed_compiler(), kernel, problem);
        Testbed testbed(backend, kernel.operation, problem, binaries, 1);
        const auto compiled = typed_compiler().compile(program_of(kernel, {}, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
        const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                          launch_of(kernel, {}, problem, backend.device()));
        return (batch ? testbed.verify_batch(configured, 100).wrong : testbed.verify(configured).wrong).value_or("");
    }
};

TEST_F(TypedTestbed, ARightKernelIsRight) {
    EXPECT_EQ(wrong_of("", ""), "");
    EXPECT_EQ(wrong_of("", "", true), "") << "a launch changes counts, so each set of operands gets one launch";
}

TEST_F(TypedTestbed, WrongKernelsAreFound) {
    EXPECT_THAT(wrong_of("if (i >= n) return;\n    atomicAdd", "if (i >= n - 1) return;\n    atomicAdd"),
                HasSubstr("counts["));
    EXPECT_THAT(wrong_of("(unsigned)step", "3u + (step == 3)"), HasSubstr("counts["));
    EXPECT_THAT(wrong_of("halves[i] = data[i] / 2.0", "halves[i] = data[i] / 2"), HasSubstr("halves["));
    EXPECT_THAT(wrong_of("halves[i] =", "if (i != 99) halves[i] ="), HasSubstr("halves[99] is nan, not"));
    EXPECT_EQ(wrong_of("halves[i] =", "const_cast<unsigned char*>(data)[0] = 200; halves[i] ="),
              "writes to its input data");
    EXPECT_EQ(wrong_of("halves[i] =", "counts[10] = 200; halves[i] ="), "writes outside counts (uniform inputs)");
    EXPECT_THAT(wrong_of("halves[i] =", "if (isnan(halves[i])) halves[i] ="),
                HasSubstr("if outputs hold large numbers before the launch"));
}

// Some of these kernels read the old content of their output to decide whether to write it. The output is a single
// number. Therefore only the content that the testbed gives it before the launch can reveal that the kernel reads it.
TEST(TypedOutputs, AKernelThatReadsASingleNumberOfAnyTypeIsFound) {
    auto& backend = typed_backend();
    for (const std::string name : {"double", "float", "long long", "int", "unsigned", "unsigned char"}) {
        const std::map<std::string, std::string> types{{"double", "f64"}, {"float", "f32"},    {"long long", "i64"},
                                                       {"int", "i32"},    {"unsigned", "u32"}, {"unsigned char", "u8"}};
        const bool is_floating = name == "double" || name == "float";
        const auto reference = is_floating ? "double* value, double* magnitude) { *value = *magnitude = 5; }\n"
                                           : name + "* value) { *value = 5; }\n";
        std::optional<TestbedBinaries> binaries;
        const auto wrong_of = [&](const std::string& write) {
            const auto kernel = typed_template(
                R"({ name = "out", kind = "output", type = ")" + types.at(name) + R"(", shape = ["1"] })",
                "__global__ void made_up(int, " + name + "* out) { if (threadIdx.x == 0) " + write +
                    "; }\n__global__ void reference(int, " + name + "*, " + reference);
            if (!binaries) binaries = compile_testbed(typed_compiler(), kernel, typed_problem(1));
            Testbed testbed(backend, kernel.operation, typed_problem(1), *binaries, 1);
            const auto compiled = typed_compiler().compile(program_of(kernel, {}, typed_problem(1)));
            if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
            const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                              launch_of(kernel, {}, typed_problem(1), backend.device()));
            return testbed.verify(configured).wrong.value_or("");
        };
        EXPECT_EQ(wrong_of("*out = 5"), "") << name;
        EXPECT_THAT(wrong_of("if (!(*out > 5)) *out = 5"), HasSubstr("out[0] is ")) << name;
        EXPECT_THAT(wrong_of("if (!(*out < 5)) *out = 5"), HasSubstr("out[0] is ")) << name;
        EXPECT_THAT(wrong_of(""), HasSubstr("out[0] is ")) << name;
    }
}

TEST_F(TypedTestbed, TypesOfParametersThatDifferFromTheManifestAreErrors) {
    const std::string takes =
        "by its manifest the kernel takes (int n, const unsigned char* data, unsigned short step, unsigned* counts, "
        "double* halves)";
    EXPECT_THAT(wrong_of("int n, const unsigned char*", "float n, const unsigned char*"), HasSubstr(takes));
    EXPECT_THAT(wrong_of("const unsigned char* data", "const int* data"), HasSubstr(takes));
    EXPECT_THAT(wrong_of("unsigned short step", "int step"), HasSubstr(takes));
    EXPECT_THAT(wrong_of("double* halves", "float* halves"), HasSubstr(takes));
    EXPECT_THAT(wrong_of("double* halves", "long long* halves"), HasSubstr(takes));
    EXPECT_EQ(wrong_of("__global__ void made_up(int n", "__global__ void made_up(const unsigned n"), "")
        << "of the same size";
    EXPECT_EQ(wrong_of("double* halves) {\n", "void* bytes) {\n    double* halves = (double*)bytes;\n"), "");
}

// Each element of `counts` starts at 5, and each launch adds 1. If the inout argument is restored, each launch
// leaves 6. Otherwise, the elements grow with each launch that uses the same set of operands.
TEST(TypedBatch, EachLaunchFindsTheValuesOfInoutsAgain) {
    const std::string adding = R"(
__global__ void made_up(int n, int* counts) { counts[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void reference(int n, const int* counts, int* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 32) value[i] = counts[i] + 1;
}
)";
    const auto problem = typed_problem(32);
    auto& backend = typed_backend();
    for (const bool restores : {true, false}) {
        const auto kernel = typed_template(std::string("{ name = \"counts\", kind = \"inout\", type = \"i32\", shape = "
                                                       "[\"32\"], values = { constant = 5 }") +
                                               (restores ? "" : ", restore = false") + " }",
                                           adding);
        static const auto binaries = compile_testbed(typed_compiler(), kernel, problem);
        Testbed testbed(backend, kernel.operation, problem, binaries, 1);
        const ConfiguredKernel configured(
            backend.load(std::get<Binary>(typed_compiler().compile(program_of(kernel, {}, problem))), 0),
            launch_of(kernel, {}, problem, backend.device()));
        const auto counts_after = [&](int launches) {
            const auto calls = testbed.batch(configured, launches);
            (void)backend.time_us(calls);
            std::multiset<int> counts;  // the host can read the host device's memory
            for (const auto& call : calls) counts.insert(**static_cast<int**>(call.arguments.at(1)));
            return counts;
        };
        for (int round = 0; round < 3; ++round) {
            const auto counts = counts_after(1000);
            if (restores) {
                EXPECT_EQ(counts.count(6), counts.size()) << "round " << round;
                EXPECT_LT(counts.size(), 1000U) << "a launch for each set";
            } else {
                EXPECT_EQ(counts.size(), 1000U);
                EXPECT_GT(*counts.rbegin(), 6);
            }
        }
        testbed.set_cache(Testbed::Cache::warm);
        EXPECT_EQ(counts_after(10).size(), restores ? 1U : 10U);
    }
}

// Each struct has 16 bytes: a double, an integer of four bytes, and four bytes of padding.
TEST(TypedStructs, AreFilledFromFilesAndComparedByteByByte) {
    const auto text = [](const std::string& change) {
        return R"(
struct Atom { double x; int id; };
__global__ void made_up(int n, const Atom* atoms, Atom* o) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* from = (const unsigned char*)&atoms[n - 1 - i];
    for (int byte = 0; byte < 16; ++byte) ((unsigned char*)&o[i])[byte] = from[byte];
    )" + change +
               R"(
}
__global__ void reference(int n, const Atom* atoms, const Atom*, unsigned char* value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 16 * n) value[i] = ((const unsigned char*)atoms)[16 * (n - 1 - i / 16) + i % 16];
}
)";
    };
    std::string bytes;
    for (int i = 0; i < 16 * 20; ++i) bytes += static_cast<char>(i * 37 % 251);
    const std::string manifest = R"toml(
[operation]
name = "made_up"
extents = ["n"]
operations = "0"
bytes = "0"
terms = "0"
reference = "made_up.cu"
argument = [{ name = "n", kind = "extent" },
{ name = "atoms", kind = "input", type = "bytes:16", shape = ["n"], values = { file = "atoms.bin" } },
{ name = "o", kind = "output", type = "bytes:16", shape = ["n"] }]
[template]
name = "made_up"
operation = "made_up"
types = ["f32"]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";
    const auto problem = typed_problem(20);
    auto& backend = typed_backend();
    const auto wrong_of = [&](const std::string& change) {
        const auto kernel =
            load_templates({{"made_up.toml", manifest}, {"made_up.cu", text(change)}, {"atoms.bin", bytes}}).at(0);
        static const auto binaries = compile_testbed(typed_compiler(), kernel, problem);
        Testbed testbed(backend, kernel.operation, problem, binaries, 1);
        const auto compiled = typed_compiler().compile(program_of(kernel, {}, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
        const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                          launch_of(kernel, {}, problem, backend.device()));
        return testbed.verify(configured).wrong.value_or("");
    };
    EXPECT_EQ(wrong_of(""), "");
    EXPECT_THAT(wrong_of("if (i == 3) ((unsigned char*)&o[3])[9] ^= 1;"), HasSubstr("o[3] byte 9 is "));
    EXPECT_THAT(wrong_of("if (i == 3) o[n].id = 1;"), HasSubstr("writes outside o"));
}

class AnotherCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program&) const override { return Rejection{}; }
    [[nodiscard]] std::string target() const override { return "target"; }
    [[nodiscard]] std::string version() const override { return "1"; }
};

TEST(TypedVerification, HasItsOwnTestbedsIdentity) {
    const auto typed = typed_template(R"({ name = "o", kind = "output", type = "f32", shape = ["n"] })");
    const auto untyped = typed_template(R"({ name = "o", kind = "output", shape = ["n"] })");
    const AnotherCompiler compiler;
    const auto kernels_of = [&](const KernelTemplate& kernel) {
        return testbed_parts(kernel.operation, typed_problem(3), compiler).kernels;
    };
    EXPECT_TRUE(kernels_of(typed).contains("typed/kernels/fill.cu"));
    EXPECT_TRUE(kernels_of(typed).contains("typed/kernels/compare.cu"));
    EXPECT_TRUE(kernels_of(typed).contains("typed/kernels/numbers.h"));
    EXPECT_TRUE(kernels_of(typed).contains("kernels/block_report.h"));
    EXPECT_FALSE(kernels_of(untyped).contains("typed/kernels/fill.cu"));
}

// This test compiles for a GPU, which is possible on a machine without a GPU.
TEST(TypedOperation, CompilesForAGpuWithTheTypesThatTheHostDeviceLacks) {
    const std::string text = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void made_up(int n, const __half* a, const __nv_bfloat162* b, __half s, float2* points, signed char* out) {}
__global__ void reference(int n, const __half* a, const __nv_bfloat162* b, __half s, float2* points, signed char*,
                          double* value, double* magnitude, signed char* numbers) {}
)";
    const auto kernel_of = [](const std::string& source_text) {
        return typed_template(R"({ name = "a", kind = "input", type = "f16", shape = ["n"] },
            { name = "b", kind = "input", type = "bf16x2", shape = ["n"] },
            { name = "s", kind = "scalar", type = "f16", value = 0.5 },
            { name = "points", kind = "inout", type = "f32x2", shape = ["n"] },
            { name = "out", kind = "output", type = "i8", shape = ["n"] })",
                              source_text, "1");
    };
    const auto compiler = make_compiler(model_device("sm_90"));
    const auto kernel = kernel_of(text);
    const auto binaries = compile_testbed(*compiler, kernel, typed_problem(1));
    EXPECT_FALSE(binaries.fill.code.empty());
    EXPECT_FALSE(binaries.compare.code.empty());
    EXPECT_TRUE(std::holds_alternative<Binary>(compiler->compile(program_of(kernel, {}, typed_problem(1)))));
    auto wrong = text;
    wrong.replace(wrong.find("__half s"), 8, "float s");
    const auto refused = compiler->compile(program_of(kernel_of(wrong), {}, typed_problem(1)));
    ASSERT_TRUE(std::holds_alternative<Rejection>(refused));
    EXPECT_THAT(std::get<Rejection>(refused).reason, HasSubstr("__half s, float2* points, signed char* out"));
}

TEST(TypedOperation, IsTunedServedAndVerifiedOnTheHostDevice) {
    const Scratch scratch;
    const std::vector<std::string> common{"--device", "host", "--templates", SMEMTUNE_SOURCE_DIR "/examples/histogram",
                                          "--db",     "t.db"};
    std::vector<std::string> words{"tune", "--sizes", "300", "--search", "random", "--evaluations", "3"};
    words.insert(words.end(), common.begin(), common.end());
    const auto tuned = run(scratch, words);
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_THAT(tuned.out + tuned.err, HasSubstr("3 measured, 0 rejected"));
    words = {"run", "--operation", "histogram", "--size", "300", "--json"};
    words.insert(words.end(), common.begin(), common.end());
    const auto served = run(scratch, words);
    EXPECT_THAT(served.out, HasSubstr("\"match\": \"exact\"")) << served.err;
    EXPECT_THAT(served.out, HasSubstr("\"correct\": true")) << served.err;
}

// The file contains every value of a byte, including 0. Messages and the database must pass all of them on unchanged.
TEST(TypedOperation, ItsFilesReachWorkersAndDatabase) {
    const Scratch scratch;
    auto manifest = read_text(SMEMTUNE_SOURCE_DIR "/examples/histogram/histogram.toml");
    manifest.replace(manifest.find("{ uniform = [0, 255] }"), 22, "{ file = \"data.bin\" }");
    write_text(scratch.path() / "kernels/histogram.toml", manifest);
    for (const std::string name : {"histogram.cu", "reference.cu"}) {
        write_text(scratch.path() / "kernels" / name, read_text(SMEMTUNE_SOURCE_DIR "/examples/histogram/" + name));
    }
    std::string bytes;
    for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 7 % 256);
    write_text(scratch.path() / "kernels/data.bin", bytes);
    const auto tune = [&](const std::string& size) {
        return run(scratch, {"tune", "--sizes", size, "--search", "random", "--evaluations", "2", "--device", "host",
                             "--templates", "kernels", "--db", "t.db"});
    };
    const auto tuned = tune("300");
    EXPECT_THAT(tuned.out + tuned.err, HasSubstr("2 measured, 0 rejected"));
    const auto refused = tune("301");
    EXPECT_THAT(refused.out + refused.err, HasSubstr("argument 'data' has 301 numbers, its file data.bin has 300"));
    EXPECT_EQ(run(scratch, {"db", "verify", "--db", "t.db"}).code, 0);
    const auto served = run(scratch, {"run", "--operation", "histogram", "--size", "300", "--json", "--device", "host",
                                      "--templates", "kernels", "--db", "t.db"});
    EXPECT_THAT(served.out, HasSubstr("\"match\": \"exact\"")) << served.err;
    EXPECT_THAT(served.out, HasSubstr("\"correct\": true")) << served.err;
}

}  // namespace
}  // namespace smemtune
