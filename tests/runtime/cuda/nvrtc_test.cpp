#include "runtime/cuda/nvrtc.h"

#include <gmock/gmock.h>

#include "templates/launch/limits.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// One problem for each element type of the template. The layouts change from problem to problem.
std::vector<Problem> some_problems(const KernelTemplate& kernel) {
    const auto& operation = kernel.operation;
    std::vector<Problem> problems;
    for (const auto& type : kernel.types) {
        Problem problem{.operation = operation.name, .type = type};
        if (!kernel.layouts.empty()) problem.layout = kernel.layouts[problems.size() % kernel.layouts.size()];
        for (const auto& extent : operation.extents) problem.extents.emplace_back(extent, 1000);
        problems.push_back(problem);
    }
    return problems;
}

// Returns the default configuration. If `number` is a multiple of 4, or if the template has a highest compute
// capability, also returns a second configuration. As `number` grows, the second configuration alternates between two:
// the last one of the space, which needs the most resources, and the middle one.
std::vector<Configuration> sample(const KernelTemplate& kernel, const Problem& problem, const Device& device,
                                  int number) {
    std::vector<Configuration> configurations{default_configuration(kernel)};
    const bool is_rare = kernel.highest_compute_capability.has_value();
    if (number % 4 != 0 && !is_rare) return configurations;
    const auto space = feasible_space(kernel, problem, device);
    const bool last = is_rare ? number % 2 != 0 : number % 8 == 0;
    if (space.size() > 0) configurations.push_back(space[last ? space.size() - 1 : space.size() / 2]);
    return configurations;
}

struct Target {
    const char* model;
    const char* name;
    int first;  // `number` in the first call of sample(); it varies, so that targets compile different samples
};
void PrintTo(const Target& target, std::ostream* stream) { *stream << target.name; }

class NvrtcTarget : public testing::TestWithParam<Target> {
protected:
    const Device device = model_device(GetParam().model);
    const std::unique_ptr<Compiler> compiler = make_compiler(device);

    void expect_compiles(const KernelTemplate& kernel, const Configuration& configuration, const Problem& problem) {
        SCOPED_TRACE(kernel.name + " " + to_text(problem) + " " + to_text(configuration));
        const auto compiled = compiler->compile(program_of(kernel, configuration, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) FAIL() << rejection->reason;
        const auto& binary = std::get<Binary>(compiled);
        EXPECT_EQ(binary.target, GetParam().name);
        EXPECT_EQ(std::string(binary.code.begin() + 1, binary.code.begin() + 4), "ELF");
        EXPECT_EQ(binary.compiler, compiler->version());
        auto launch = launch_of(kernel, configuration, problem, device);
        EXPECT_EQ(binary.resources.static_shared_bytes, launch.static_shared_bytes);
        EXPECT_GE(binary.resources.registers, 8);
        // Tiles of 256x192 spill a few registers, and are still the fastest at some large sizes.
        EXPECT_LE(binary.resources.spill_bytes, kernel.name == "wgmma_tiled" ? 64 : 0);
        // A configuration that fits by the manifest's estimate must also fit with the registers that ptxas reports.
        launch.registers = binary.resources.registers;
        if (!infeasibility(kernel, configuration, problem, device)) {
            EXPECT_EQ(broken_limit(launch, device), std::nullopt);
        }
    }
};

TEST_P(NvrtcTarget, CompilesWithoutAGpu) {
    EXPECT_EQ(compiler->target(), GetParam().name);
    int number = GetParam().first;
    for (const auto& kernel : builtin_templates()) {
        for (const auto& problem : some_problems(kernel)) {
            if (!supports(kernel, problem, device)) continue;  // the device lacks instructions that the kernel uses
            for (const auto& configuration : sample(kernel, problem, device, number++)) {
                expect_compiles(kernel, configuration, problem);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcTarget,
                         testing::Values(Target{"sm_75", "sm_75", 0}, Target{"sm_80", "sm_80", 1},
                                         Target{"sm_86", "sm_86", 2}, Target{"sm_89", "sm_89", 3},
                                         Target{"sm_90", "sm_90a", 0}, Target{"sm_100", "sm_100a", 1},
                                         Target{"sm_120", "sm_120a", 2}),
                         [](const auto& instance) { return instance.param.name; });

// The compiler's version is part of every trial's verification identity. If the text of the version changed, all stored
// trials would have to be verified again.
TEST(Nvrtc, TheVersionTellsTheOptionsThatEveryProgramGets) {
    EXPECT_THAT(NvrtcCompiler(90, {}).version(),
                MatchesRegex(R"(nvrtc [0-9]+\.[0-9]+ -std=c\+\+17 --ptxas-options=-v --no-cache)"));
}

TEST(Nvrtc, ASyntaxErrorIsARejectionWithTheFilesOwnLine) {
    EXPECT_THAT(reason_of(NvrtcCompiler(90, {}),
                          "#include \"configuration.h\"\n\n"
                          "extern \"C\" __global__ void k(int* out) {\n"
                          "    *out = 1 +;\n"
                          "}\n"),
                AllOf(StartsWith("compile: k.cu(4): error:"), HasSubstr("expected an expression")));
}

TEST(Nvrtc, AViolatedStaticAssertionIsQuoted) {
    EXPECT_THAT(reason_of(NvrtcCompiler(80, {}),
                          "static_assert(sizeof(int) == 3, \"one thread per tile element\");\n"
                          "extern \"C\" __global__ void k(int*) {}\n"),
                AllOf(HasSubstr("k.cu(1)"), HasSubstr("one thread per tile element")));
}

TEST(Nvrtc, TooMuchStaticSharedMemoryIsARejection) {
    EXPECT_THAT(reason_of(NvrtcCompiler(90, {}),
                          "extern \"C\" __global__ void k(float* out) {\n"
                          "    __shared__ float much[64 * 1024];\n"
                          "    much[threadIdx.x] = *out;\n"
                          "    __syncthreads();\n"
                          "    *out = much[threadIdx.x + 1];\n"
                          "}\n"),
                AllOf(StartsWith("compile: "), HasSubstr("error"), HasSubstr("shared")));
}

TEST(Nvrtc, SpillsAreReported) {
    std::string source =
        "extern \"C\" __global__ void __launch_bounds__(1024) k(float* out) {\n    float v[200];\n"
        "#pragma unroll\n    for (int i = 0; i < 200; ++i) v[i] = out[i * 1024 + threadIdx.x];\n"
        "    __syncthreads();\n"
        "#pragma unroll\n    for (int i = 0; i < 200; ++i) out[i * 1024 + threadIdx.x + 1] = v[(i * 37 + 11) % 200] - "
        "2 * v[i];\n}\n";
    const auto binary = must_compile(NvrtcCompiler(90, {}), program(source));
    EXPECT_GT(binary.resources.spill_bytes, 0);
    EXPECT_LE(binary.resources.registers, 64);
}

// Output of ptxas 13.0 for three kernels on sm_90a.
constexpr const char* report = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'caller' for 'sm_90a'
ptxas info    : Function properties for caller
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 16 bytes smem
ptxas info    : Compile time = 17.828 ms
ptxas info    : Function properties for _Z6helperf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'tiled_transpose' for 'sm_90a'
ptxas info    : Function properties for tiled_transpose
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 1.301 ms
ptxas info    : Compiling entry function 'tiled' for 'sm_90a'
ptxas info    : Function properties for tiled
    312 bytes stack frame, 356 bytes spill stores, 356 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 312 bytes cumulative stack size
)";

TEST(PtxasReport, EachKernelHasItsOwnNumbers) {
    EXPECT_EQ(parse_ptxas_report(report, "caller"), (Resources{.registers = 10, .static_shared_bytes = 16}));
    EXPECT_EQ(parse_ptxas_report(report, "tiled_transpose"), (Resources{.registers = 14, .static_shared_bytes = 2048}));
    EXPECT_EQ(parse_ptxas_report(report, "tiled"), (Resources{.registers = 64, .spill_bytes = 712}));
}

TEST(PtxasReport, ComplaintsAboutProductsOfWarpgroupsAreFound) {
    EXPECT_EQ(ptxas_complaint("ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are "
                              "serialized\nptxas info    : Used 168 registers\n"),
              "ptxas C7512: Potential Performance Loss: wgmma.mma_async instructions are serialized");
    EXPECT_EQ(ptxas_complaint("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored"),
              "ptxas C7508: Potential Performance Loss: 'setmaxnreg' ignored");
    EXPECT_EQ(ptxas_complaint(report), "");
}

TEST(PtxasReport, OfAnotherKernelSaysNothing) {
    EXPECT_EQ(parse_ptxas_report(report, "naive"), Resources{});
    EXPECT_EQ(parse_ptxas_report("", "tiled"), Resources{});
}

TEST(PtxasReport, OfAKernelWithoutSharedMemoryTakesNoneFromTheNextKernel) {
    constexpr const char* two =
        "ptxas info    : Compiling entry function 'naive' for 'sm_90a'\n"
        "ptxas info    : Function properties for naive\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 0 barriers\n"
        "ptxas info    : Compiling entry function 'tiled' for 'sm_90a'\n"
        "ptxas info    : Function properties for tiled\n"
        "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem\n";
    EXPECT_EQ(parse_ptxas_report(two, "naive"), (Resources{.registers = 40}));
    EXPECT_EQ(parse_ptxas_report(two, "tiled"),
              (Resources{.registers = 32, .spill_bytes = 16, .static_shared_bytes = 2048}));
}

TEST(PtxasReport, OlderOnesSayOneSpillPerLineAndListConstantMemory) {
    constexpr const char* older =
        "ptxas info    : Compiling entry function 'tiled' for 'sm_80'\n"
        "ptxas info    : Function properties for tiled\n"
        "    40 bytes stack frame, 44 bytes spill stores, 36 bytes spill loads\n"
        "ptxas info    : Used 32 registers, 8192 bytes smem, 424 bytes cmem[0]\n";
    EXPECT_EQ(parse_ptxas_report(older, "tiled"),
              (Resources{.registers = 32, .spill_bytes = 80, .static_shared_bytes = 8192}));
}

}  // namespace
}  // namespace smemtune
