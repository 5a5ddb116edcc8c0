// Tests that the host device compiles CUDA sources unchanged: shuffles, votes, atomics, mathematics, shared memory.
#include <gmock/gmock.h>

#include <cmath>

#include "runtime/configured_kernel.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// A program whose only source is `source`, unchanged, with the kernel `k`.
Program plain(const std::string& source, const std::string& configuration = "") {
    Program program{"k", "k.cu", {{"k.cu", source}, {"configuration.h", configuration}}};
    program.needs.configuration = true;
    return program;
}

// Runs the kernel `k(double* out)` in one block and returns `out`.
std::vector<double> run(const Program& program, std::int64_t threads, std::size_t count, std::int64_t shared = 0) {
    const auto backend = open_host({});
    const auto kernel = backend->load(must_compile(*host_compiler(), program), shared);
    const auto memory = backend->allocate(count * sizeof(double));
    std::vector<double> out(count, -1);
    backend->copy_to_device(*memory, std::as_bytes(std::span(out)));
    void* data = memory->data();
    void* arguments[] = {&data};  // NOLINT(modernize-avoid-c-arrays): what launches take
    Launch launch;
    launch.block = {threads, 1, 1};
    launch.grid = {1, 1, 1};
    launch.dynamic_shared_bytes = shared;
    kernel->launch(nullptr, launch, arguments);
    backend->synchronize();
    backend->copy_to_host(std::as_writable_bytes(std::span(out)), *memory);
    return out;
}

TEST(CudaWords, ShufflesReadTheOtherLanesOfTheirWarp) {
    const auto out = run(plain(R"(__global__ void k(double* out) {
    const int i = threadIdx.x;
    double sum = i;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (i % 32 == 0) out[i / 32] = sum;
    const float up = __shfl_up_sync(0xffffffffu, (float)i, 1);
    const int other = __shfl_xor_sync(0xffffffffu, i, 3);
    const int in_part = __shfl_sync(0xffffffffu, i, 1, 8);
    if (i == 32 || i == 37) { out[2 + i % 32] = up; out[3 + i % 32] = other; out[4 + i % 32] = in_part; }
})"),
                         64, 10);
    EXPECT_EQ(out[0], 31 * 32 / 2);
    EXPECT_EQ(out[1], 31 * 32 / 2 + 32 * 32);
    EXPECT_THAT(std::vector(out.begin() + 2, out.begin() + 5), testing::ElementsAre(32, 35, 33));
    EXPECT_THAT(std::vector(out.begin() + 7, out.end()), testing::ElementsAre(36, 38, 33));
}

TEST(CudaWords, VotesCountTheLanesOfTheirMask) {
    const auto out = run(plain(R"(__global__ void k(double* out) {
    const int i = threadIdx.x;
    const unsigned odd = __ballot_sync(0xffffffffu, i % 2);
    int below = -1;
    if (i < 8) below = __any_sync(0xffu, i == 7) + 2 * __all_sync(0xffu, i < 7) + 4 * __reduce_add_sync(0xffu, 1);
    if (i == 0) { out[0] = odd; out[1] = below; out[2] = __popc(odd); }
    __syncwarp();
    const unsigned active = __activemask();
    if (i == 32) { out[3] = __ballot_sync(active, 1); }
})"),
                         33, 4);
    EXPECT_THAT(out, testing::ElementsAre(0xaaaaaaaau, 1 + 4 * 8, 16, 1));
}

TEST(CudaWords, AWarpThatNotAllLanesReachIsRejected) {
    const auto source = plain(
        "__global__ void k(double* out) { if (threadIdx.x > 3) *out = __shfl_sync(~0u, 1, 0); "
        "else __syncthreads(); }");
    EXPECT_THAT(error_of<std::exception>([&] { (void)run(source, 32, 1); }),
                HasSubstr("not reached by all threads of its mask"));
}

TEST(CudaWords, LanesThatWaitWithDifferentMasksAreRejected) {
    const auto source = plain("__global__ void k(double* out) { __syncwarp(threadIdx.x == 0 ? 3u : 7u); *out = 1; }");
    EXPECT_THAT(error_of<std::exception>([&] { (void)run(source, 2, 1); }),
                HasSubstr("not reached by all threads of its mask"));
}

// Source of a kernel that calls mathematical functions with several argument types, and uses vector types and atomics.
constexpr const char* arithmetic = R"(__global__ void k(double* out) {
    out[0] = sqrt(2.0) + sqrtf(4.f) + rsqrtf(4.f);
    out[1] = pow(2.0, 3) + powf(2.f, 3.f) + exp(0.0) + log(1.0) + fmod(5.0, 3.0);
    out[2] = min(3, 2u) + max(1.5f, 2.5) + abs(-3) + fabs(-1.5) + floor(1.5) + __fdividef(1.f, 4.f);
    out[3] = isnan(NAN) + isinf(INFINITY) + isfinite(1.0);
    out[4] = __popc(7) + __clz(1) + __ffs(8) + __float_as_int(1.0f) + __brev(1u) / 2147483648u;
    float3 a = make_float3(1, 2, 3);
    double2 b = make_double2(4, 5);
    uchar4 c = make_uchar4(6, 7, 8, 255);
    out[5] = a.x + a.y + a.z + b.x + b.y + c.w + sizeof(float3) + alignof(double2) + alignof(ushort2);
    float s, t;
    sincosf(0.f, &s, &t);
    out[6] = s + t + __fmaf_rn(2, 3, 4) + fma(2.0, 3.0, 4.0) + fmaxf(1.f, 2.f);
    static __shared__ float sum;
    static __shared__ double total;
    static __shared__ unsigned long long big;
    static __shared__ int least, swapped;
    sum = 0; total = 0; big = 1; least = 5; swapped = 3;
    atomicAdd(&sum, 1.5f); atomicAdd(&total, 2.25); atomicAdd(&big, 1ull << 40); atomicMin(&least, 4); atomicMax(&least, 7);
    const int before = atomicCAS(&swapped, 3, 9);
    out[7] = sum + total + big / 1099511627776.0 + least + swapped + before + atomicExch(&swapped, 1) + atomicSub(&least, 2);
    unsigned around = 2;
    out[8] = atomicInc(&around, 2) * 10 + around;
    out[9] = __ldg(out + 8) + warpSize;
})";

TEST(CudaWords, ThreadsThatEndedNeedNotReachTheWarp) {
    const auto out = run(plain(R"(__global__ void k(double* out) {
    if (threadIdx.x % 32 >= 20) return;
    __syncwarp();
    out[threadIdx.x] = __reduce_add_sync(0xffffffffu, 1);
})"),
                         64, 64);
    EXPECT_EQ(out[0], 20);
    EXPECT_EQ(out[51], 20);
    EXPECT_EQ(out[52], -1);
}

TEST(CudaWords, TheLastWarpHasTheLanesThatTheBlockHasLeft) {
    const auto out = run(plain("__global__ void k(double* out) { out[threadIdx.x] = __activemask(); }"), 40, 40);
    EXPECT_EQ(out[31], 0xffffffffU);
    EXPECT_EQ(out[32], 0xff);
    EXPECT_EQ(out[39], 0xff);
}

TEST(CudaWords, ArithmeticTypesAndAtomicsAreThere) {
    for (const bool headers : {false, true}) {
        auto program =
            plain((headers ? std::string("#include <cuda_runtime.h>\n#include <math.h>\n#include <stdint.h>\n") : "") +
                  arithmetic);
        program.needs.system_headers = headers;
        const auto out = run(program, 1, 10);
        EXPECT_NEAR(out[0], std::sqrt(2.0) + 2.5, 1e-6);
        EXPECT_NEAR(out[1], 8 + 8 + 1 + 2, 1e-12);
        EXPECT_NEAR(out[2], 2 + 2.5 + 3 + 1.5 + 1 + 0.25, 1e-12);
        EXPECT_EQ(out[3], 3);
        EXPECT_EQ(out[4], 3.0 + 31 + 4 + 0x3f800000 + 1);
        EXPECT_EQ(out[5], 6 + 9 + 255 + 12 + 16 + 4);
        EXPECT_EQ(out[6], 1 + 10 + 10 + 2);
        EXPECT_NEAR(out[7], 1.5 + 2.25 + 1 + 7 + 9 + 3 + 9 + 7, 1e-6);
        EXPECT_EQ(out[8], 20);
        EXPECT_EQ(out[9], 52);
    }
}

TEST(CudaWords, ConstantMemoryMayBeUninitialized) {
    EXPECT_EQ(run(plain("__constant__ float2 v[3];\n__constant__ int w[] = {4, 5};\n"
                        "__global__ void k(double* out) { *out = v[2].y + w[1]; }"),
                  1, 1)
                  .at(0),
              5);
}

// NVRTC declares printf without a header, so the host device does, too.
TEST(CudaWords, KernelsPrintWithoutStdio) {
    for (const auto* include : {"", "#include <cuda_runtime.h>\n", "#include <cuda_runtime.h>\n#include <stdio.h>\n"}) {
        auto program =
            plain(include + std::string(R"(__global__ void k(double* out) { printf("at %d\n", threadIdx.x); })"));
        program.needs.system_headers = *include != '\0';
        testing::internal::CaptureStdout();
        run(program, 1, 1);
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "at 0\n") << include;
    }
}

TEST(CudaWords, ExternSharedMemoryIsTheLaunchsDynamicMemory) {
    EXPECT_EQ(run(plain("__global__ void k(double* out) {\n    extern __shared__ __align__(16) double s[];\n"
                        "    s[threadIdx.x] = threadIdx.x; __syncthreads();\n    if (threadIdx.x == 0) *out = s[3] + "
                        "__LINE__;\n}\n"),
                  4, 1, 32)
                  .at(0),
              3 + 4);
}

TEST(CudaWords, ParametersReachThePreprocessorAndTemplatesAreInstantiated) {
    auto program = plain(
        "template <class T, int N> __global__ void k(double* out) {\n#if TILE > 16\n    *out = (T)N + TILE;\n"
        "#endif\n}\n",
        "#define TILE 32\n");
    program.entry = "k<float, 5>";
    EXPECT_EQ(run(program, 1, 1).at(0), 37);
}

TEST(CudaWords, TheHostTakesDefinitionsAndTheStandardOfTheOptions) {
    auto program = plain("__global__ void k(double* out) { *out = SCALE + __cplusplus / 100; }");
    program.options = {"-DSCALE=OTHER", "--define-macro=OTHER=3", "--std=c++20", "--use_fast_math"};
    EXPECT_EQ(run(program, 1, 1).at(0),
              3 + 2020 - 0 + (run(plain("__global__ void k(double* o) { *o = 0; }"), 1, 1).at(0)));
}

TEST(CudaWords, IncludeFoldersAreSearched) {
    auto program = plain("#include <three.h>\n__global__ void k(double* out) { *out = three; }");
    program.files["folder/three.h"] = "constexpr int three = 3;\n";
    program.include_folders = {"folder"};
    EXPECT_EQ(run(program, 1, 1).at(0), 3);
}

}  // namespace
}  // namespace smemtune
