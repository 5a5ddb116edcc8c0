#include "runtime/host/host_compiler.h"

#include <gmock/gmock.h>

#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(HostCompiler, CompilesAKernelAndSaysWhatMadeIt) {
    const auto compiler = host_compiler();
    const auto binary = must_compile(*compiler, program("extern \"C\" __global__ void k(int* out) { *out = 1; }\n"));
    EXPECT_EQ(binary.entry, "k");
    EXPECT_THAT(binary.target, StartsWith("host-"));
    EXPECT_EQ(binary.target, compiler->target());
    EXPECT_EQ(binary.compiler, compiler->version());
    EXPECT_GT(binary.compile_ms, 0);
    ASSERT_GT(binary.code.size(), 4U);
    EXPECT_EQ(std::string(binary.code.begin() + 1, binary.code.begin() + 4), "ELF");
}

TEST(HostCompiler, CheckedMachineCodeHasATargetOfItsOwn) {
    EXPECT_EQ(host_compiler(true)->target(), host_compiler()->target() + "-checked");
}

TEST(HostCompiler, ASyntaxErrorIsARejectionWithTheFilesOwnLine) {
    const auto reason = reason_of(*host_compiler(),
                                  "#include \"configuration.h\"\n\n"
                                  "extern \"C\" __global__ void k(int* out) {\n"
                                  "    *out = 1 +;\n"
                                  "}\n");
    EXPECT_THAT(reason, AllOf(StartsWith("compile: k.cu:4:"), HasSubstr("error:"), Not(HasSubstr("\n"))));
}

TEST(HostCompiler, AnErrorInASharedHeaderNamesTheHeader) {
    auto broken = program("#include \"device/vector.h\"\nextern \"C\" __global__ void k(int*) {}\n");
    broken.files["device/vector.h"] = "#pragma once\nint broken = ;\n";
    const auto result = host_compiler()->compile(broken);
    ASSERT_TRUE(std::holds_alternative<Rejection>(result));
    EXPECT_THAT(std::get<Rejection>(result).reason, StartsWith("device/vector.h:2:"));
}

TEST(HostCompiler, AViolatedStaticAssertionIsQuoted) {
    EXPECT_THAT(reason_of(*host_compiler(),
                          "static_assert(sizeof(int) == 3, \"one thread per tile element\");\n"
                          "extern \"C\" __global__ void k(int*) {}\n"),
                AllOf(HasSubstr("k.cu:1:"), HasSubstr("one thread per tile element")));
}

TEST(HostCompiler, ExternSharedOutsideFunctionsIsARejectionThatSaysWhatToWrite) {
    EXPECT_THAT(reason_of(*host_compiler(),
                          "namespace n {\n"
                          "extern __shared__ float panel[];\n"
                          "}\n"
                          "extern \"C\" __global__ void k(float* out) { *out = n::panel[0]; }\n"),
                AllOf(StartsWith("compile: k.cu:2:"), HasSubstr("dynamic_shared<T>() of device/shared.h")));
}

TEST(HostCompiler, AKernelWithMoreStaticSharedMemoryThanGpusAllowIsRejected) {
    const auto compiled = [](const std::string& source, const std::string& entry = "k") {
        auto each = program(source);
        each.entry = entry;
        return host_compiler()->compile(each);
    };
    const std::string uses = "a[threadIdx.x] = *out; __syncthreads(); *out = a[1]; }\n";
    for (const std::string linkage : {"", "extern \"C\" "}) {
        const auto large = compiled(linkage + "__global__ void k(float* out) { __shared__ float a[12289]; " + uses);
        ASSERT_TRUE(std::holds_alternative<Rejection>(large));
        EXPECT_EQ(std::get<Rejection>(large).stage, Stage::limits);
        EXPECT_EQ(std::get<Rejection>(large).reason,
                  "static shared bytes per block: asks for 49156, GPUs allow 49152; use dynamic shared memory");
    }
    const auto limit = "__global__ void k(float* out) { __shared__ float a[12288]; " + uses;
    EXPECT_TRUE(std::holds_alternative<Binary>(compiled(limit)));
    EXPECT_TRUE(std::holds_alternative<Binary>(
        compiled(limit + "__global__ void kk(float* out) { __shared__ float a[12288]; " + uses)))
        << "arrays of other kernels do not count";
    const auto with_arguments = "template <int N> __global__ void k(float* out) { __shared__ float a[N]; " + uses;
    EXPECT_TRUE(std::holds_alternative<Rejection>(compiled(with_arguments, "k<20000>")));
    EXPECT_TRUE(std::holds_alternative<Binary>(compiled(with_arguments, "k<200>")));
    const auto instances = with_arguments + "template __global__ void k<8000>(float* out);\n";
    EXPECT_TRUE(std::holds_alternative<Binary>(compiled(instances, "k<8001>"))) << "one launch has one instance";
}

TEST(HostCompiler, SizesAndDifferencesOfPointersHaveTheirTypesAsOnAGpu) {
    for (const std::string include : {"", "#include <cstddef>\n"}) {
        auto with_types = program(include + "extern \"C\" __global__ void k(size_t n, ptrdiff_t* out) { *out = n; }\n");
        with_types.needs.system_headers = !include.empty();
        must_compile(*host_compiler(), with_types);
    }
}

TEST(HostCompiler, AnIntrinsicThatTheHostLacksIsARejectionThatNamesIt) {
    EXPECT_THAT(reason_of(*host_compiler(),
                          "extern \"C\" __global__ void k(float* out) {\n"
                          "    *out = __vadd4(1, 2);\n"
                          "}\n"),
                AllOf(StartsWith("compile: k.cu:2:"), HasSubstr("__vadd4")));
}

TEST(HostCompiler, AnAbsentEntryIsARejectionThatNamesIt) {
    EXPECT_THAT(reason_of(*host_compiler(), "extern \"C\" __global__ void other(float*) {}\n"),
                StartsWith("compile: k.cu: no kernel 'k'"));
}

TEST(HostCompiler, TakesTheOptionsThatItShares) {
    auto with_options = program(
        "static_assert(__cplusplus == 202002L && SCALE == 3 && OTHER == 4, \"from the options\");\n"
        "#ifdef GONE\n#error GONE was undefined\n#endif\n"
        "extern \"C\" __global__ void k(int*) {}\n");
    with_options.options = {"--std=c++20", "-DSCALE=3", "--define-macro=OTHER=4",
                            "-DGONE",      "-UGONE",    "--maxrregcount=32"};
    const auto result = host_compiler()->compile(with_options);
    EXPECT_TRUE(std::holds_alternative<Binary>(result)) << std::get<Rejection>(result).reason;
}

TEST(HostCompiler, AMissingCompilerIsNotTheCandidatesFault) {
    const auto compiler = make_compiler(host_device(), {.host_compiler = "/nowhere/c++"});
    const auto compile = [&] { (void)compiler->compile(program("extern \"C\" __global__ void k(int*) {}\n")); };
    for (int again = 0; again < 2; ++again) {
        EXPECT_THAT(error_of<CompilerError>(compile), AllOf(HasSubstr("/nowhere/c++"), HasSubstr("CXX")));
    }
}

// When memory runs out, the Linux kernel may kill the compiler, because it is the largest process.
TEST(HostCompiler, AKilledCompilerIsNotTheCandidatesFault) {
    for (const std::string end : {"kill -KILL $$", "echo 'fatal error: Killed signal terminated program'; exit 1"}) {
        const TemporaryFolder scratch;
        const auto killed =
            script(scratch / "c++", "case \"$*\" in *--version*) echo c++ 1.0;; *) " + end + ";; esac\n");
        const auto compiler = make_compiler(host_device(), {.host_compiler = killed});
        const auto compile = [&] { (void)compiler->compile(program("extern \"C\" __global__ void k(int*) {}\n")); };
        EXPECT_THAT(error_of<CompilerError>(compile), HasSubstr("was killed; is there too little memory?")) << end;
    }
}

TEST(HostCompiler, ACompilerThatRunsPastTheLimitIsStopped) {
    const TemporaryFolder scratch;
    const auto slow = script(scratch / "c++", "case \"$*\" in *--version*) echo slow 1.0;; *) sleep 86400;; esac\n");
    const auto compiler = make_compiler(host_device(), {.host_compiler = slow, .time_limit = std::chrono::seconds(1)});
    EXPECT_THAT(reason_of(*compiler, "extern \"C\" __global__ void k(int*) {}\n"),
                AllOf(StartsWith("compile: "), HasSubstr("ran past 1 s")));
}

TEST(HostCompiler, LeavesNoFileBehind) {
    const TemporaryFolder scratch;
    const auto* before = std::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    setenv("TMPDIR", scratch.path().c_str(), 1);
    EXPECT_EQ(reason_of(*host_compiler(), "extern \"C\" __global__ void k(int*) {}\n"), "");
    EXPECT_NE(reason_of(*host_compiler(), "nonsense\n"), "");
    if (before == nullptr) {
        unsetenv("TMPDIR");
    } else {
        setenv("TMPDIR", kept.c_str(), 1);
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace smemtune
