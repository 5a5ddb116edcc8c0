// Tests exported headers. The header that smemtune writes for examples/histogram is compiled into this test.
#include "tuner/shipping/export_header.h"

#include <gmock/gmock.h>

#include "histogram_kernel.h"  // written by 'smemtune export-header' when the tests are built
#include "templates/manifest/catalog.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ExportHeader, TheKernelOfItsHeaderIsFetchedAndLaunched) {
    Runtime runtime({.database = "",
                     .device = "host",
                     .template_folders = {SMEMTUNE_SOURCE_DIR "/examples/histogram"},
                     .host_compiler = SMEMTUNE_CXX});
    const std::vector<unsigned char> data{7, 7, 9, 255, 7};
    std::vector<unsigned> counts(256);
    const smemtune_kernels::histogram histogram(runtime, 5);
    histogram(nullptr, data.data(), counts.data());
    EXPECT_EQ(counts[7], 3U);
    EXPECT_EQ(counts[255], 1U);
    smemtune_kernels::launch_histogram(runtime, 5, nullptr, data.data(), counts.data());
    EXPECT_EQ(counts[7], 6U);
    EXPECT_EQ(histogram.kernel().problem().operation, "histogram");
}

TEST(ExportHeader, OperationsWithLayoutsAndStridesTakeThem) {
    const auto& templates = builtin_templates();
    const auto text = header_of(std::ranges::find(templates, "tiled", &KernelTemplate::name)->operation, "f32");
    EXPECT_THAT(text,
                AllOf(HasSubstr("gemm(smemtune::Runtime& runtime, const std::string& layout, std::int64_t M, "
                                "std::int64_t N, std::int64_t K)"),
                      HasSubstr("void operator()(CUstream_st* stream, float alpha, const float* A, long long lda, "
                                "const float* B, long long ldb, float beta, float* C, long long ldc) const"),
                      HasSubstr(".layout = layout")));
}

TEST(ExportHeader, NamesAndTypesThatCppLacksAreReplaced) {
    Operation operation{.name = "move", .extents = {"n"}};
    const auto add = [&](const std::string& name, Argument::Kind kind, const std::string& type) {
        auto& argument = operation.arguments.emplace_back(Argument{.name = name, .kind = kind});
        argument.type = argument_type(type);
    };
    add("runtime", Argument::Kind::input, "f32x2");
    add("new", Argument::Kind::output, "bytes:24");
    add("s", Argument::Kind::scalar, "f16");
    const auto text = header_of(operation, "f32");
    EXPECT_THAT(text,
                AllOf(HasSubstr("const void* runtime_, void* new_, unsigned short s"),
                      HasSubstr("/// runtime_: float2\n    /// new_: 24 bytes each\n    /// s: __half, its bits")));
    add("a b", Argument::Kind::input, "f32");
    EXPECT_THROW((void)header_of(operation, "f32"), std::invalid_argument);
}

TEST(ExportHeader, ArgumentsNamedAsParametersOfTheHeaderAreRenamed) {
    Operation operation{.name = "move", .extents = {"n"}};
    for (const std::string name : {"runtime", "stream", "layout", "other"}) {
        operation.arguments.push_back({.name = name, .kind = Argument::Kind::input, .type = argument_type("f32")});
    }
    EXPECT_THAT(header_of(operation, "f32"),
                HasSubstr("const float* runtime_, const float* stream_, const float* layout_, const float* other)"));
}

TEST(ExportHeader, OnlyExtentsThatTheKernelTakesAreKept) {
    Operation operation{.name = "move", .extents = {"m", "n"}};
    operation.arguments.push_back({.name = "n", .kind = Argument::Kind::extent, .type = argument_type("i64")});
    const auto text = header_of(operation, "f32");
    EXPECT_THAT(text, AllOf(HasSubstr("std::int64_t n_;"), HasSubstr("n_(n), ")));
    EXPECT_THAT(text, ::testing::Not(HasSubstr(" m_"))) << "an unused member";
}

TEST(ExportHeader, TheCommandNamesWhatItLacks) {
    const Scratch scratch;
    EXPECT_THAT(run(scratch, {"export-header"}).err, HasSubstr("export-header needs a name"));
    EXPECT_THAT(run(scratch, {"export-header", "tield"}).err, HasSubstr("tield"));
    EXPECT_THAT(run(scratch, {"export-header", "tiled", "--type", "f61"}).err, HasSubstr("f61"));
    EXPECT_THAT(run(scratch, {"export-header", "transpose", "--output", "no/folder.h"}).err,
                HasSubstr("no/folder.h cannot be written"));
    const auto printed = run(scratch, {"export-header", "tiled"});
    EXPECT_EQ(printed.code, 0);
    EXPECT_THAT(printed.out, HasSubstr("class gemm {"));
}

}  // namespace
}  // namespace smemtune
