// Tests each kind of reference, from the manifest to the verdict on a kernel.
#include "tuner/trial/reference/reference_source.h"

#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kernel_source = R"(
__global__ void doubled(int n, const float* a, float* o, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = FACTOR * a[i];
    if (i < 4) counts[i] = i + FACTOR;
}
)";
constexpr const char* host_function = R"(
#include <stdexcept>
#include <vector>
void reference(int n, const float* a, float*, int*, double* value, double* magnitude, int* counts) {
    const std::vector<float> copy(a, a + n);
    for (int i = 0; i < n; ++i) magnitude[i] = value[i] = 2.0 * copy[i];
    for (int i = 0; i < 4; ++i) counts[i] = i + 2;
}
)";
// The program reads and writes .npy files without NumPy. In version 1 of the format, 10 bytes and a header come before
// the numbers. Bytes 8 and 9 are the length of the header.
constexpr const char* program = R"py(
import struct, sys
inputs, outputs = sys.argv[1:]
def read(name, code):
    data = open(f'{inputs}/{name}.npy', 'rb').read()
    begin = 10 + struct.unpack('<H', data[8:10])[0]
    numbers = data[begin:]
    return data[:begin], struct.unpack(f'<{len(numbers) // struct.calcsize(code)}{code}', numbers)
header, a = read('a', 'f')
n = read('n', 'i')[1][0]
assert len(a) == n and f"'shape': ({n},)".encode() in header
open(f'{outputs}/o.npy', 'wb').write(header + struct.pack(f'<{n}f', *[2 * each for each in a]))
shape = f'({n},)'.encode()
header = header.replace(b'<f4', b'<i4').replace(shape, b'(4,)'.ljust(len(shape)))
open(f'{outputs}/counts.npy', 'wb').write(header + struct.pack('<4i', 2, 3, 4, 5))
)py";

KernelTemplate template_with(const std::string& reference, const std::string& values = "{ uniform = [1, 2] }",
                             const SourceTree& files = {}, const std::string& source = kernel_source) {
    const std::string manifest =
        "[operation]\nname = \"made_up\"\nextents = [\"n\"]\noperations = \"0\"\nbytes = \"0\"\nterms = \"1\"\n"
        "reference = " +
        reference +
        "\nargument = [{ name = \"n\", kind = \"extent\" },\n"
        "{ name = \"a\", kind = \"input\", type = \"f32\", shape = [\"n\"], values = " +
        values + R"toml( },
{ name = "o", kind = "output", type = "f32", shape = ["n"] },
{ name = "counts", kind = "output", type = "i32", shape = ["4"] }]
[template]
name = "doubled"
operation = "made_up"
types = ["f32"]
[[parameter]]
name = "FACTOR"
values = [2, 3, 0]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";
    SourceTree tree{{"doubled.toml", manifest}, {"doubled.cu", source}};
    tree.insert(files.begin(), files.end());
    return load_templates(tree).at(0);
}

// Returns what is wrong with the kernel that multiplies by `factor`, or an empty text if it is right.
std::string wrong_of(const KernelTemplate& kernel, std::int64_t factor, bool batch = false) {
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

std::string error_of(const KernelTemplate& kernel) {
    try {
        return "nothing was thrown, and " + wrong_of(kernel, 2);
    } catch (const std::exception& error) {
        return error.what();
    }
}

const KernelTemplate& with_program(const std::string& text, const std::string& words = "") {
    static std::map<std::string, KernelTemplate> known;
    return known
        .try_emplace(text + words,
                     template_with("{ program = \"python3 reference.py {inputs} {outputs}\"" + words + " }",
                                   "{ uniform = [1, 2] }", {{"reference.py", text}}))
        .first->second;
}

TEST(ReferenceSource, EveryKindAcceptsARightKernelAndRefusesAWrongOne) {
    std::string twos;
    for (int i = 0; i < 100; ++i) twos += std::string("\0\0\0\x40", 4);
    const std::string counts("\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0", 16);
    const std::vector<KernelTemplate> kernels{
        template_with("{ configuration = \"default\" }"),
        template_with("\"reference.cpp\"", "{ uniform = [1, 2] }", {{"reference.cpp", host_function}}),
        template_with("{ answer = { o = \"o.raw\", counts = \"counts.bin\" } }", "{ constant = 1 }",
                      {{"o.raw", twos}, {"counts.bin", counts}}),
        with_program(program)};
    for (const auto& kernel : kernels) {
        const auto kind = static_cast<int>(kernel.operation.reference.kind);
        for (const bool batch : {false, true}) {
            EXPECT_EQ(wrong_of(kernel, 2, batch), "") << kind;
            EXPECT_THAT(wrong_of(kernel, 3, batch), HasSubstr("o[0] is ")) << kind;
        }
        auto other = kernel;
        auto& source = other.files.at("doubled.cu");
        source.replace(source.find("counts[i] = i"), 13, "if (i < 3) counts[i] = i");
        EXPECT_THAT(wrong_of(other, 2), HasSubstr("counts[3] is ")) << "an element that is not written, " << kind;
    }
}

// The results of a reference function are cached. The key of the cache consists of the function's scalars and arrays.
TEST(ReferenceSource, AFunctionIsCalledAnewForOtherScalarsAndOtherArrays) {
    const auto with = [](const std::string& values) {
        return load_templates({{"scaled.toml", R"toml(
[operation]
name = "made_up"
extents = ["n"]
operations = "0"
bytes = "0"
terms = "1"
reference = "reference.cpp"
argument = [{ name = "n", kind = "extent" }, { name = "alpha", kind = "scalar" },
{ name = "a", kind = "input", shape = ["n"])toml" + values +
                                                   R"toml( },
{ name = "o", kind = "output", shape = ["n"] }]
check = [{ inputs = "uniform", scalars = { alpha = 1 } }, { inputs = "uniform", scalars = { alpha = 3 } },
{ inputs = "integer", scalars = { alpha = 3 } }]
[template]
name = "scaled"
operation = "made_up"
types = ["f32"]
[[parameter]]
name = "FACTOR"
values = [1, 2]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml"},
                               {"scaled.cu", R"(
__global__ void scaled(int n, float alpha, const float* a, float* o) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = FACTOR * alpha * a[i];
}
)"},
                               {"reference.cpp", R"(
#include <cmath>
void reference(int n, float alpha, const float* a, float*, double* value, double* magnitude) {
    for (int i = 0; i < n; ++i) magnitude[i] = std::fabs(value[i] = double(alpha) * a[i]);
}
)"}}).at(0);
    };
    for (const std::string values : {"", ", values = { constant = 2 }"}) {
        EXPECT_EQ(wrong_of(with(values), 1), "") << values;
        EXPECT_THAT(wrong_of(with(values), 2), HasSubstr("o[0] is ")) << values;
    }
}

TEST(ReferenceSource, WithoutAReferenceOnlyWritesOutsideAndNoWritesAreFound) {
    const auto kernel = template_with("\"none\"");
    EXPECT_EQ(wrong_of(kernel, 2), "");
    EXPECT_EQ(wrong_of(kernel, 3), "") << "nobody can tell";
    auto other = kernel;
    auto& source = other.files.at("doubled.cu");
    source.replace(source.find("if (i < n)"), 10, "if (i <= n)");
    EXPECT_THAT(wrong_of(other, 2), HasSubstr("writes outside o"));
    other = kernel;
    auto& silent = other.files.at("doubled.cu");
    silent.replace(silent.find("if (i < n)"), 10, "if (i < 0)");
    EXPECT_EQ(wrong_of(other, 2), "writes nothing to o (uniform inputs)");
    EXPECT_TRUE(is_unchecked(verification_identity(kernel, typed_problem(1), typed_compiler())));
}

TEST(ReferenceSource, AConfigurationThatLeavesZerosOrNaNsIsNone) {
    auto kernel = template_with("{ configuration = \"default\" }", "{ constant = 0 }");
    EXPECT_EQ(error_of(kernel),
              "the reference, doubled's default configuration FACTOR=2, leaves nothing but zeros in o; make that "
              "configuration right, or give the operation another reference");
    std::string silent = kernel_source;
    silent.replace(silent.find("if (i < n)"), 10, "if (i < 0)");
    kernel = template_with("{ configuration = \"default\" }", "{ constant = 1 }", {}, silent);
    EXPECT_THAT(error_of(kernel), HasSubstr("leaves nothing but NaNs in o"));
}

TEST(ReferenceSource, IntegersThatTheDefaultConfigurationLeavesOutAreWrong) {
    std::string partly = kernel_source;
    partly.replace(partly.find("if (i < 4)"), 10, "if (i < 3)");
    const auto kernel = template_with("{ configuration = \"default\" }", "{ constant = 1 }", {}, partly);
    EXPECT_THAT(wrong_of(kernel, 2), HasSubstr("counts[3] is "));
}

TEST(ReferenceSource, AHostFunctionThatThrowsOrDoesNotFitIsNamed) {
    const auto with_function = [](const std::string& from, const std::string& to) {
        std::string text = host_function;
        text.replace(text.find(from), from.size(), to);
        return error_of(template_with("\"reference.cpp\"", "{ constant = 1 }", {{"reference.cpp", text}}));
    };
    EXPECT_EQ(with_function("const std::vector", "throw std::runtime_error(\"no data\"); const std::vector"),
              "the reference, a C++ function, throws: no data");
    EXPECT_THAT(with_function("int* counts)", "long long* counts)"),
                HasSubstr("by its manifest the reference takes (int n, const float* a, float* o, int* counts, double* "
                          "value of o, double* magnitude of o, int* value of counts)"));
    EXPECT_THAT(with_function("void reference", "void other"), HasSubstr("reference.cpp"));
    EXPECT_THAT(with_function("copy(a", "cop(a"), HasSubstr("reference.cpp:6:"));
}

TEST(ReferenceSource, AProgramThatFailsIsNamedWithItsOutput) {
    const std::string is = "the reference, program 'python3 reference.py {inputs} {outputs}', ";
    EXPECT_EQ(error_of(with_program("import sys\nsys.exit('no such luck')")),
              is + "ended with exit code 1: no such luck");
    EXPECT_EQ(error_of(with_program("import sys; sys.exit(3)")), is + "ended with exit code 3: it printed nothing");
    EXPECT_EQ(error_of(with_program("")), is + "has not written {outputs}/o.npy, the values of an output");
    EXPECT_THAT(error_of(with_program("import time; time.sleep(30)", ", time_limit = 1")),
                HasSubstr(is + "ran past its time limit of 1 s; write time_limit = 2 beside it"));
    std::string text = program;
    text.replace(text.find("'<4i', 2, "), 10, "'<3i', ");
    EXPECT_EQ(error_of(with_program(text)), is + "has written {outputs}/counts.npy, which has 3 numbers, not 4");
    text.replace(text.find("b'<i4'"), 6, "b'<i8'");
    EXPECT_THAT(error_of(with_program(text)), HasSubstr("counts.npy, which holds numbers of type <i8"));
    const auto absent = template_with("{ program = \"absent-program {inputs} {outputs}\" }");
    EXPECT_EQ(error_of(absent),
              "the reference, program 'absent-program {inputs} {outputs}', cannot be run; install absent-program, or "
              "name another program");
}

// In each run, the program appends a word to a log file. The test counts the runs by these words.
TEST(ReferenceSource, AProgramRunsOnceForTheSameArguments) {
    const Scratch scratch;
    const auto log = (scratch.path() / "runs").string();
    const auto kernel = with_program(std::string(program) + "open('" + log + "', 'a').write('run ')\n");
    const auto problem = typed_problem(100);
    Testbed testbed(typed_backend(), kernel.operation, problem, compile_testbed(typed_compiler(), kernel, problem), 1);
    const auto verdict = [&](std::int64_t factor, bool batch) {
        const Configuration configuration{{{"FACTOR", factor}}};
        const auto compiled = typed_compiler().compile(program_of(kernel, configuration, problem));
        const ConfiguredKernel configured(typed_backend().load(std::get<Binary>(compiled), 0),
                                          launch_of(kernel, configuration, problem, typed_backend().device()));
        return batch ? testbed.verify_batch(configured, 10).wrong : testbed.verify(configured).wrong;
    };
    EXPECT_TRUE(verdict(3, false)) << "a wrong kernel may have overwritten anything: operands are made again";
    EXPECT_FALSE(verdict(2, false));
    EXPECT_FALSE(verdict(2, true));
    EXPECT_EQ(read_text(log), "run ");
}

TEST(ReferenceSource, AnAnswerOfAnotherSizeIsRefused) {
    const auto kernel = template_with("{ answer = { o = \"o.raw\", counts = \"counts.bin\" } }", "{ constant = 1 }",
                                      {{"o.raw", std::string(396, '\0')}, {"counts.bin", std::string(16, '\0')}});
    EXPECT_EQ(error_of(kernel),
              "made_up f32 100: argument 'o' has 100 numbers, its file o.raw has 99; choose the size that the "
              "file was made for");
}

TEST(ReferenceSource, NoGpuIsNeededToCompileAHostFunctionForOne) {
    const auto kernel = template_with("\"reference.cpp\"", "{ constant = 1 }", {{"reference.cpp", host_function}});
    const auto compiler = make_compiler(model_device("sm_90"), {.host_compiler = SMEMTUNE_CXX});
    const auto binary = compiler->compile(reference_program(kernel, typed_problem(1)));
    ASSERT_TRUE(std::holds_alternative<Binary>(binary)) << std::get<Rejection>(binary).reason;
    EXPECT_EQ(std::get<Binary>(binary).target, "host function");
    const auto without = make_compiler(model_device("sm_90"), {.host_compiler = "absent-c++"});
    EXPECT_THROW((void)without->compile(reference_program(kernel, typed_problem(1))), CompilerError);
}

// The results of an operation without a reference must be marked as not checked, wherever a user reads them.
TEST(UncheckedOperation, IsNamedWhereverItsResultsAreShown) {
    const Scratch scratch;
    auto manifest = read_text(SMEMTUNE_SOURCE_DIR "/examples/histogram/histogram.toml");
    manifest.replace(manifest.find("\"reference.cu\""), 14, "\"none\"");
    write_text(scratch.path() / "kernels/histogram.toml", manifest);
    write_text(scratch.path() / "kernels/histogram.cu",
               read_text(SMEMTUNE_SOURCE_DIR "/examples/histogram/histogram.cu"));
    const auto with_options = [&](std::vector<std::string> words) {
        for (const std::string word : {"--db", "t.db"}) words.push_back(word);
        return run(scratch, words);
    };
    EXPECT_THAT(with_options({"tune", "--sizes", "300", "--search", "random", "--evaluations", "2", "--device", "host",
                              "--templates", "kernels", "--json"})
                    .out,
                HasSubstr("\"unchecked\": true"));
    const auto tuned = with_options({"tune", "--sizes", "300", "--search", "random", "--evaluations", "3", "--device",
                                     "host", "--templates", "kernels"});
    EXPECT_THAT(tuned.out, HasSubstr("histogram (NOT CHECKED)"));
    EXPECT_THAT(tuned.out, HasSubstr("NOT CHECKED: the operation has no reference"));
    EXPECT_THAT(tuned.err, HasSubstr("us (NOT CHECKED) histogram")) << "progress";
    EXPECT_THAT(with_options({"db", "list"}).out, HasSubstr("histogram (NOT CHECKED)"));
    EXPECT_THAT(with_options({"db", "list"}).out, HasSubstr("300 (NOT CHECKED)")) << "the problem";
    // The two runs chose the same winner or two different ones, so there are one or two unchecked trials.
    EXPECT_THAT(with_options({"db", "list", "--json"}).out, ContainsRegex("\"unchecked\": [12],"));
    EXPECT_THAT(with_options({"db", "best"}).out, HasSubstr("histogram (NOT CHECKED)"));
    EXPECT_THAT(with_options({"db", "trials"}).out, HasSubstr("winner, NOT CHECKED"));
    EXPECT_THAT(with_options({"db", "show", "1"}).out, HasSubstr("NOT CHECKED: the operation has no reference"));
    EXPECT_THAT(with_options({"db", "show", "1", "--json"}).out, HasSubstr("\"unchecked\": true"));
    const auto served = with_options(
        {"run", "--operation", "histogram", "--size", "300", "--device", "host", "--templates", "kernels"});
    EXPECT_THAT(served.out, HasSubstr("NOT CHECKED: the operation has no reference")) << served.err;

    // Once the operation has a reference, the unchecked trials are verified again.
    manifest.replace(manifest.find("\"none\""), 6, "\"reference.cu\"");
    write_text(scratch.path() / "kernels/histogram.toml", manifest);
    write_text(scratch.path() / "kernels/reference.cu",
               read_text(SMEMTUNE_SOURCE_DIR "/examples/histogram/reference.cu"));
    const auto checked = with_options({"tune", "--sizes", "300", "--search", "random", "--evaluations", "3", "--device",
                                       "host", "--templates", "kernels"});
    EXPECT_THAT(checked.out, HasSubstr("verified again"));
    EXPECT_THAT(checked.out, ::testing::Not(HasSubstr("NOT CHECKED")));
    EXPECT_THAT(checked.err, ::testing::Not(HasSubstr("NOT CHECKED")));
}

}  // namespace
}  // namespace smemtune
