// Tests inputs that a kernel reads from `__constant__` and `__device__` arrays of its source: in a testbed, in a tuning
// run and in a Runtime.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "runtime/workspace.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

constexpr const char* filtered = R"(
__constant__ float filter[8];
__device__ int shift[1];
__global__ void made_up(int n, const float* a, float* o) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] * filter[(i + shift[0]) % 4];
}
__global__ void reference(int n, const float* weights, const float* a, const int* by, float*, double* value,
                          double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] = (double)a[i] * weights[(i + by[0]) % 4];
    if (i < n) magnitude[i] = value[i] < 0 ? -value[i] : value[i];
}
)";
constexpr const char* filtered_arguments =
    R"({ name = "weights", kind = "input", type = "f32", shape = ["4"], symbol = "filter" },
    { name = "a", kind = "input", type = "f32", shape = ["n"] },
    { name = "by", kind = "input", type = "i32", shape = ["1"], values = { uniform = [0, 3] }, symbol = "shift" },
    { name = "o", kind = "output", type = "f32", shape = ["n"] })";

// Replaces `from` by `to` in the kernel. Returns what is wrong with the kernel, or an empty text if it is right.
std::string wrong_of(const std::string& from, const std::string& to, FillSymbols fill, bool batch) {
    std::string text = filtered;
    text.replace(text.find(from), from.size(), to);
    const auto kernel = typed_template(filtered_arguments, text, "1");
    const auto problem = typed_problem(100);
    auto& backend = typed_backend();
    static const auto binaries =
        compile_testbed(typed_compiler(), typed_template(filtered_arguments, filtered, "1"), problem);
    Testbed testbed(backend, kernel.operation, problem, binaries, 1);
    const auto compiled = typed_compiler().compile(program_of(kernel, {}, problem));
    if (const auto* rejection = std::get_if<Rejection>(&compiled)) return rejection->reason;
    const auto launch = launch_of(kernel, {}, problem, backend.device());
    const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0), launch, fill);
    try {
        return (batch ? testbed.verify_batch(configured, 10).wrong : testbed.verify(configured).wrong).value_or("");
    } catch (const LaunchError& error) {
        return error.what();
    }
}

TEST(Symbol, HoldsTheInputBeforeEachVerification) {
    for (const auto fill : {FillSymbols::at_launch, FillSymbols::when_asked}) {
        for (const bool batch : {false, true}) {
            EXPECT_EQ(wrong_of("filter[8]", "filter[8]", fill, batch), "");
            EXPECT_EQ(wrong_of("filter[8]", "filter[4]", fill, batch), "") << "the shortest that fits";
            EXPECT_THAT(wrong_of("% 4];", "% 3];", fill, batch), HasSubstr("o["));
        }
    }
}

TEST(Symbol, ThatIsTooShortOrAbsentIsNamed) {
    const auto fill = FillSymbols::when_asked;
    EXPECT_EQ(wrong_of("filter[8]", "filter[3]", fill, false),
              "the kernel's array 'filter' has 12 bytes, but its argument has 16; make the array longer, or tune a "
              "smaller size");
    EXPECT_THAT(wrong_of("__device__ int shift[1]", "struct Hidden { static constexpr int shift[1]{}; }", fill, false),
                HasSubstr("shift"));
    EXPECT_THROW(typed_backend().load(typed_binaries().fill, 0)->fill_symbol(nullptr, {"absent", 0, 4}, nullptr),
                 LaunchError);
}

TEST(Symbol, TakesNoPlaceAmongTheArgumentsOfALaunch) {
    auto kernel = typed_template(filtered_arguments, filtered, "1");
    kernel.workspace_bytes = Expression("64");
    const auto launch = launch_of(kernel, {}, typed_problem(9), typed_backend().device());
    EXPECT_EQ(launch.symbols, (std::vector<SymbolArgument>{{"filter", 1, 16}, {"shift", 3, 4}}));
    EXPECT_EQ(launch.workspace, (WorkspaceArgument{64, 3}));
}

TEST(Symbol, IsFilledByARuntimeToo) {
    const Scratch scratch;
    const auto kernel = typed_template(filtered_arguments, filtered, "1");
    write_text(scratch.path() / "kernels/made_up.toml", kernel.files.at("made_up.toml"));
    write_text(scratch.path() / "kernels/made_up.cu", filtered);
    const std::vector<std::string> common{"--device", "host", "--templates", "kernels", "--db", "t.db"};
    std::vector<std::string> words{"tune", "--sizes", "300"};
    words.insert(words.end(), common.begin(), common.end());
    const auto tuned = run(scratch, words);
    EXPECT_THAT(tuned.out + tuned.err, HasSubstr("1 measured, 0 rejected"));
    words = {"run", "--operation", "made_up", "--size", "300", "--json"};
    words.insert(words.end(), common.begin(), common.end());
    const auto served = run(scratch, words);
    EXPECT_THAT(served.out, HasSubstr("\"match\": \"exact\"")) << served.err;
    EXPECT_THAT(served.out, HasSubstr("\"correct\": true")) << served.err;
}

// This test compiles for a GPU, which is possible on a machine without a GPU.
TEST(Symbol, OfAGpusKernelIsPartOfItsCode) {
    const auto kernel = typed_template(filtered_arguments, filtered, "1");
    const auto compiler = make_compiler(model_device("sm_90"));
    const auto compiled = compiler->compile(program_of(kernel, {}, typed_problem(1)));
    ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Rejection>(compiled).reason;
    const auto& code = std::get<Binary>(compiled).code;
    const std::string text(code.begin(), code.end());
    for (const auto* name : {"filter", "shift"}) {
        EXPECT_NE(text.find(std::string(1, '\0') + name + std::string(1, '\0')), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace smemtune
