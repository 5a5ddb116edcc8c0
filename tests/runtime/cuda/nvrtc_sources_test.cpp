// Tests that NVRTC compiles users' sources. No GPU is needed.
#include <gmock/gmock.h>

#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/toolkit_headers.h"
#include "templates/launch/limits.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Program plain(const std::string& source, const std::string& configuration = "") {
    Program program{"k", "k.cu", {{"k.cu", source}, {"configuration.h", configuration}}};
    program.needs.configuration = true;
    return program;
}

std::unique_ptr<Compiler> sm_90() { return make_compiler(model_device("sm_90")); }

std::string rejection_of(const Program& program) {
    const auto result = sm_90()->compile(program);
    const auto* rejection = std::get_if<Rejection>(&result);
    return rejection == nullptr ? "" : rejection->reason;
}

TEST(NvrtcSources, ParametersReachThePreprocessor) {
    const std::string source =
        "__global__ void k(float* out) {\n#if TILE > 16\n    __shared__ float s[TILE];\n"
        "    s[threadIdx.x] = *out; __syncthreads(); *out = s[3];\n#endif\n}\n";
    EXPECT_EQ(must_compile(*sm_90(), plain(source, "#define TILE 32\n")).resources.static_shared_bytes, 128);
    EXPECT_EQ(must_compile(*sm_90(), plain(source, "#define TILE 16\n")).resources.static_shared_bytes, 0);
}

TEST(NvrtcSources, EntriesWithoutCLinkageAreFoundByTheirMangledName) {
    const auto plain_entry = must_compile(*sm_90(), plain("__global__ void k(float* out) { *out = 1; }\n"));
    EXPECT_EQ(plain_entry.entry, "k");
    EXPECT_EQ(mangled_name(plain_entry.code, "k"), "_Z1kPf");
    EXPECT_GT(plain_entry.resources.registers, 0);
    auto instance = plain(
        "namespace n { template <class T, int N> __global__ void k(T* out) { __shared__ T s[N]; "
        "s[threadIdx.x] = *out; __syncthreads(); *out = s[1]; } }\n__global__ void kk() {}\n");
    instance.entry = "n::k<double, 64>";
    const auto compiled = must_compile(*sm_90(), instance);
    EXPECT_EQ(compiled.entry, "k");
    EXPECT_THAT(mangled_name(compiled.code, "k"), StartsWith("_ZN1n1kIdLi64E"));
    EXPECT_EQ(compiled.resources.static_shared_bytes, 512);
    EXPECT_EQ(mangled_name(compiled.code, "x"), "");
    const auto c = must_compile(*sm_90(), plain("extern \"C\" __global__ void k(float* out) { *out = 1; }\n"));
    EXPECT_EQ(mangled_name(c.code, "k"), "k");
}

TEST(NvrtcSources, OnlyKernelsThatWaitForThePreviousOneMayStartEarly) {
    const auto& templates = builtin_templates();
    const auto& kernel = *std::ranges::find(templates, "wgmma_tiled", &KernelTemplate::name);
    auto program = program_of(kernel, default_configuration(kernel), gemm(512, 512, 512, "f16", "nn"));
    const auto waits = [&](const std::string& call) {
        program.files[program.source_path] = "#include \"device/dependent_launch.h\"\nextern \"C\" __global__ void " +
                                             program.entry + "(float* out) { " + call + " *out = 1; }\n";
        return waits_for_previous_kernel(must_compile(*sm_90(), program).code);
    };
    EXPECT_TRUE(waits("wait_for_previous_kernel();"));
    EXPECT_TRUE(waits("if (threadIdx.x == 0) wait_for_previous_kernel(blockIdx.x); else return;"));
    EXPECT_FALSE(waits(""));  // includes the header, but does not call the function
    // Only another kernel of the same source waits, so this kernel must not start early.
    EXPECT_FALSE(waits("*out = 2; } extern \"C\" __global__ void other(float* out) { wait_for_previous_kernel();"));
    program.files.at("device/dependent_launch.h") += "\n";
    EXPECT_TRUE(waits("wait_for_previous_kernel();"));
}

TEST(NvrtcSources, AnEntryThatIsNotThereIsRejectedWithARemedy) {
    EXPECT_THAT(rejection_of(plain("__global__ void other(float* out) { *out = 1; }\n")),
                AllOf(StartsWith("k.cu: no kernel k"), HasSubstr("entry")));
    auto instance = plain("template <class T> __global__ void k(T* out) { *out = 1; }\n");
    instance.entry = "kernel<float>";
    EXPECT_THAT(rejection_of(instance), AllOf(HasSubstr("kernel"), HasSubstr("'entry'")));
    EXPECT_THAT(rejection_of(plain("__global__ void k(int) {}\n__global__ void k(float) {}\n")), HasSubstr("several"));
}

TEST(NvrtcSources, TheToolkitsHeadersAreFound) {
    if (toolkit_include_folders({}, "").empty()) GTEST_SKIP() << "no toolkit with headers";
    for (const auto* header : {"cuda_fp16.h", "cuda_bf16.h", "mma.h", "cooperative_groups.h", "cuda/barrier",
                               "cub/block/block_reduce.cuh", "stdint.h", "math.h", "float.h", "cuda_runtime.h"}) {
        auto program = plain(std::string("#include <") + header + ">\n__global__ void k(float* out) { *out = 1; }\n");
        program.needs.system_headers = true;
        EXPECT_EQ(rejection_of(program), "") << header;
    }
    auto program = plain(
        "#include <stdint.h>\n#include \"math.h\"\n#include <float.h>\n#include <limits.h>\n"
        "__global__ void k(int64_t* out) { *out = INT32_MAX + (INFINITY > FLT_MAX) + (M_PI > 3) + INT_MAX; "
        "static_assert(sizeof(uint8_t) == 1 && sizeof(int16_t) == 2 && sizeof(uint64_t) == 8); }\n");
    program.needs.system_headers = true;
    EXPECT_EQ(rejection_of(program), "");
}

TEST(NvrtcSources, ATemplatesOwnHeaderReplacesTheSystemsOfItsName) {
    auto program = plain("#include \"math.h\"\n__global__ void k(float* out) { *out = OWN; }\n");
    program.files["math.h"] = "#define OWN 3\n";
    program.needs.system_headers = true;
    EXPECT_EQ(rejection_of(program), "");
}

TEST(NvrtcSources, CubAsAWholeBringsItsBlocksAndWarps) {
    if (toolkit_include_folders({}, "").empty()) GTEST_SKIP() << "no toolkit with headers";
    auto program = plain(
        "#include <cub/cub.cuh>\n"
        "__global__ void k(float* out) {\n"
        "    using Reduce = cub::BlockReduce<float, 64>;\n"
        "    using Scan = cub::WarpScan<int>;\n"
        "    __shared__ typename Reduce::TempStorage storage;\n"
        "    __shared__ typename Scan::TempStorage warps[2];\n"
        "    int before = 0;\n"
        "    Scan(warps[threadIdx.x / 32]).ExclusiveSum(1, before);\n"
        "    const float sum = Reduce(storage).Sum(out[threadIdx.x] + before);\n"
        "    if (threadIdx.x == 0) *out = sum;\n"
        "}\n");
    program.needs.system_headers = true;
    EXPECT_EQ(rejection_of(program), "");
}

TEST(NvrtcSources, AHeaderThatNoToolkitHasIsRejectedWithARemedy) {
    auto program = plain("#include <vector>\n__global__ void k(float* out) { *out = 1; }\n");
    program.needs.system_headers = true;
    EXPECT_THAT(rejection_of(program), AllOf(StartsWith("k.cu(1)"), HasSubstr("vector"), HasSubstr("CUDA_HOME")));
}

TEST(NvrtcSources, AnAbsentHeaderOfATemplateWithoutSystemHeadersHasNothingToDoWithTheToolkit) {
    const auto reason = rejection_of(plain("#include \"parts.h\"\n__global__ void k(float* out) { *out = 1; }\n"));
    EXPECT_THAT(reason, AllOf(StartsWith("k.cu(1)"), HasSubstr("parts.h"), testing::Not(HasSubstr("CUDA_HOME"))));
}

TEST(NvrtcSources, ACompileThatRunsPastTheLimitIsRejected) {
    const auto compiler = make_compiler(model_device("sm_90"), {.time_limit = std::chrono::seconds(0)});
    const auto result = compiler->compile(plain("__global__ void k(float* out) { *out = 1; }\n"));
    ASSERT_TRUE(std::holds_alternative<Rejection>(result));
    EXPECT_EQ(std::get<Rejection>(result).reason, "the compiler ran past 0 s");
}

TEST(NvrtcSources, ToolkitsOfTheCallerComeFirst) {
    const TemporaryFolder folder;
    folder.write("include/cuda_fp16.h", "");
    folder.write("include/cccl/cub/cub.cuh", "");
    const auto root = folder.path().string();
    EXPECT_THAT(toolkit_include_folders({"/nowhere", root}, ""),
                testing::ElementsAre(root + "/include", root + "/include/cccl"));
    folder.write("lib/libnvrtc.so.13", "");
    EXPECT_THAT(toolkit_include_folders({}, root + "/lib/libnvrtc.so.13"),
                testing::ElementsAre(root + "/include", root + "/include/cccl"));
}

TEST(NvrtcSources, OptionsReachTheCompiler) {
    auto program =
        plain("__global__ void k(float* out) { *out = SCALE + __cplusplus; static_assert(__cplusplus >= 202002L); }\n");
    program.options = {"-DSCALE=3", "--std=c++20", "--use_fast_math", "--maxrregcount=32"};
    EXPECT_EQ(rejection_of(program), "");
    program.options.emplace_back("--no-such-option");
    EXPECT_THAT(rejection_of(program),
                AllOf(StartsWith("k.cu: NVRTC does not take all options"), HasSubstr("no-such-option")));
}

TEST(NvrtcSources, IncludesAreFoundHoweverTheyAreSpelled) {
    auto program =
        plain("#include \"parts/a.h\"\n#include <c.h>\n__global__ void k(float* out) { *out = a + b + c; }\n");
    program.files["parts/a.h"] = "#include \"b.h\"\nconstexpr int a = 1;\n";
    program.files["parts/b.h"] = "constexpr int b = 2;\n";
    program.files["folder/c.h"] = "constexpr int c = 3;\n";
    program.include_folders = {"folder"};
    EXPECT_EQ(rejection_of(program), "");
}

}  // namespace
}  // namespace smemtune
