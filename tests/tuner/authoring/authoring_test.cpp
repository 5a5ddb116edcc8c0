// Runs `smemtune check` and `smemtune init` as a user does.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "templates/manifest/manifest.h"
#include "tests/tuner/support.h"
#include "tuner/authoring/check_templates.h"
#include "tuner/authoring/draft.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* row_kernel = R"(#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
/* void __global__ no(int) { */
template <typename T>
__global__ void __launch_bounds__(BLOCK_SIZE) shift(const int n, float by, const T* __restrict__ in, T *out) {
    const int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
#if FAST
    if (i < n) out[i] = fmaf(__ldg(in + i), 1.0f, by);
#else
    for (int j = i; j < n; j += gridDim.x * BLOCK_SIZE) out[j] = by + in[j];
#endif
}
__global__ void reference(int n, float by, const float* in, float*, double* value, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { value[i] = (double)by + in[i]; magnitude[i] = fabs((double)by) + fabs((double)in[i]); }
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at == std::string::npos) throw std::logic_error("the text does not hold " + from);
    return text.replace(at, from.size(), to);
}

// Writes the kernel and its manifest into the folder `own`. Replaces `from` by `to` in the source, or in the manifest
// if the source does not contain `from`.
void write_kernel(const Scratch& scratch, const std::string& from = "", const std::string& to = "") {
    std::string source = replaced(row_kernel, "template <typename T>\n", "");
    source = replaced(replaced(source, "const T* __", "const float* __"), "T *out", "float *out");
    auto manifest = draft_manifest("shift.cu", source);
    (source.find(from) != std::string::npos ? source : manifest) =
        replaced(source.find(from) != std::string::npos ? source : manifest, from, to);
    std::filesystem::create_directory(scratch / "own");
    write_text(scratch / "own/shift.cu", source);
    write_text(scratch / "own/shift.toml", manifest);
}

Finished checked(const Scratch& scratch) {
    return run(scratch, {"check", "own", "--device", "host", "--sizes", "64", "--json"});
}

std::string finding_of(const Scratch& scratch, int code) {
    const auto finished = checked(scratch);
    EXPECT_EQ(finished.code, code) << finished.err;
    std::string text;
    const auto document = json::parse(finished.out);
    for (const auto& each : document.at("templates").at(0).at("findings")) {
        text += each.at("severity").get<std::string>() + " " + each.at("where").get<std::string>() + ": " +
                each.at("what").get<std::string>() + "\n";
    }
    return text;
}

TEST(Draft, AKernelsArgumentsAndParametersAreFound) {
    const auto text = draft_manifest("shift.cu", row_kernel);
    EXPECT_THAT(text, HasSubstr("entry     = \"shift<float>\"  # TODO"));
    EXPECT_THAT(
        text,
        HasSubstr("name   = \"BLOCK_SIZE\"\nvalues = [64, 128, 256]  # TODO: the values to try\ndefault = 128\n"));
    EXPECT_THAT(text, HasSubstr("name   = \"FAST\"\nvalues = [0, 1]  # TODO"));
    EXPECT_THAT(text, HasSubstr("block = [\"BLOCK_SIZE\"]  # TODO"));
    EXPECT_THAT(text, HasSubstr("grid  = [\"ceil_div(n, BLOCK_SIZE)\"]  # TODO"));
    EXPECT_THAT(text, HasSubstr("extents    = [\"n\"]"));
    EXPECT_THAT(text, HasSubstr("name = \"in\"\nkind = \"input\"\nrows")) << "T may be float";
    const auto plain =
        draft_manifest("k.cu", "__global__ void k(int M, int N, const float *A, float* B, long long ld) {}");
    EXPECT_THAT(plain, HasSubstr("name = \"A\"\nkind = \"input\"\nrows = \"M\"  # TODO\ncolumns = \"N\"  # TODO\n"));
    EXPECT_THAT(
        plain, HasSubstr("name = \"B\"\nkind = \"output\"  # TODO: inout, with values, if the kernel also reads it\n"));
    EXPECT_THAT(plain, HasSubstr("name = \"ld\"\nkind = \"stride\"  # TODO: write stride = \"ld\" for the matrix"));
    EXPECT_THAT(plain, Not(HasSubstr("[[parameter]]")));
    EXPECT_THROW((void)draft_manifest("k.cu", "void k() {}"), std::invalid_argument);
}

TEST(Draft, AReferenceThatTheSourceHasIsNoTask) {
    EXPECT_THAT(draft_manifest("shift.cu", row_kernel), HasSubstr("reference  = \"shift.cu\"\n"));
    EXPECT_THAT(draft_manifest("k.cu", "__global__ void k(int n, float* out) {}"),
                HasSubstr("reference  = \"k.cu\"  # TODO: write the kernel 'reference' there\n"));
}

TEST(InitCommand, OfSeveralKernelsTheFirstIsTakenUnlessOneIsNamed) {
    const Scratch scratch;
    write_text(scratch / "two.cu",
               "__global__ void reference(int n) {}\n__global__ void first(int n, float* a) {}\n"
               "__global__ void second(int m, float* b) {}\n");
    const auto made = run(scratch, {"init", "two.cu"});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("two.cu has 2 kernels: first second; the draft is for the first; for another one, "
                                    "remove two.toml and add --kernel NAME\n"));
    EXPECT_THAT(read_text(scratch / "two.toml"), HasSubstr("name      = \"first\""));
    std::filesystem::remove(scratch / "two.toml");
    const auto named = run(scratch, {"init", "two.cu", "--kernel", "second"});
    EXPECT_EQ(named.code, 0) << named.err;
    EXPECT_THAT(named.out, Not(HasSubstr("2 kernels")));
    EXPECT_THAT(read_text(scratch / "two.toml"), AllOf(HasSubstr("name      = \"second\""), HasSubstr("\"b\"")));
    std::filesystem::remove(scratch / "two.toml");
    const auto unknown = run(scratch, {"init", "two.cu", "--kernel", "third"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("two.cu: there is no kernel 'third'; known: first second"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "two.toml"));
}

constexpr auto typed_kernel = R"(
typedef unsigned short Code;
struct Pair { int first; float second; };
__global__ void decode(const Code* codes, const int4* table, double scale, bool swap, long long n, double* out) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) out[i] = scale * codes[i] + table[i].x + (swap ? 1 : 0);
}
)";

TEST(Draft, TypesOtherThanFloatAreDeclared) {
    const auto text = draft_manifest("decode.cu", typed_kernel);
    EXPECT_THAT(text, HasSubstr("extents    = [\"n\"]"));
    EXPECT_THAT(text, HasSubstr("name = \"codes\"\nkind = \"input\"\ntype = \"u16\"\nshape = [\"n\"]  # TODO\n"
                                "values = { uniform = [0, 1] }"));
    EXPECT_THAT(text, HasSubstr("name = \"table\"\nkind = \"input\"\ntype = \"i32x4\"\n"));
    EXPECT_THAT(text, HasSubstr("name = \"scale\"\nkind = \"scalar\"\ntype = \"f64\"\nvalue = 1.5"));
    EXPECT_THAT(text, HasSubstr("name = \"swap\"\nkind = \"scalar\"\ntype = \"u8\"\n"));
    EXPECT_THAT(text, HasSubstr("name = \"n\"\nkind = \"extent\"  # TODO: or stride, if rows of a matrix are this far "
                                "apart\ntype = \"i64\"\n"));
    EXPECT_THAT(text, HasSubstr("name = \"out\"\nkind = \"output\"  # TODO: inout, with values, if the kernel also "
                                "reads it\ntype = \"f64\"\nshape = [\"n\"]"));
    EXPECT_THAT(text, HasSubstr("host = true"));
    const auto half = draft_manifest("h.cu", "__global__ void h(int n, const __half2* in, Pair* out) {}");
    EXPECT_THAT(half, HasSubstr("type = \"f16x2\"\n"));
    EXPECT_THAT(half, HasSubstr("type = \"bytes:4\"  # TODO: declared as Pair*; write bytes:SIZE for a struct\n"));
    EXPECT_THAT(half, HasSubstr("host = false"));
    const auto vector = draft_manifest(
        "v.cu", "template <int N, typename T, class U> __global__ void v(const T* in, const U* more, int3 by) {}");
    EXPECT_THAT(vector, HasSubstr("\"v<N, float, float>\""));
    EXPECT_THAT(vector, HasSubstr("[[parameter]]\nname   = \"N\""));
    EXPECT_THAT(vector, HasSubstr("name = \"by\"\nkind = \"scalar\"\ntype = \"i32\"  # TODO: declared as int3"));
}

TEST(Draft, DeclarationsOfAllFormsAreRead) {
    const auto text =
        draft_manifest("f.cu",
                       "using real = float;\n#define INDEX long\n"
                       "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) f(const real a[], float* const b,"
                       " const INDEX* c, unsigned long long int n = 8, std::uint32_t*) {}");
    EXPECT_THAT(text, HasSubstr("name      = \"f\""));
    EXPECT_THAT(text, HasSubstr("name = \"a\"\nkind = \"input\"\ntype = \"f32\""));
    EXPECT_THAT(text, HasSubstr("name = \"b\"\nkind = \"output\"")) << "the pointer is constant, not the numbers";
    EXPECT_THAT(text, HasSubstr("name = \"c\"\nkind = \"input\"\ntype = \"i64\""));
    EXPECT_THAT(text, HasSubstr("name = \"n\"\nkind = \"extent\"\ntype = \"u64\""));
    EXPECT_THAT(text, HasSubstr("name = \"argument_5\"\nkind = \"output\""));
    const auto one_extent = draft_manifest("f.cu", "__global__ void f(const float* a, float* b, long long n) {}");
    EXPECT_THAT(one_extent, HasSubstr("extents    = [\"n\"]"));
    EXPECT_THROW((void)draft_manifest("f.cu", "__global__ void f(int n, float** rows) {}"), std::invalid_argument);
}

TEST(InitCommand, ItsDraftOfTypedArgumentsPassesTheCheck) {
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "own");
    write_text(scratch / "own/decode.cu", std::string(typed_kernel) + R"(
__global__ void reference(const Code* codes, const int4* table, double scale, bool swap, long long n, double*,
                          double* value, double* magnitude) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) magnitude[i] = value[i] = scale * codes[i] + table[i].x + (swap ? 1 : 0);
}
)");
    EXPECT_EQ(run(scratch, {"init", "own/decode.cu"}).code, 0);
    EXPECT_EQ(finding_of(scratch, 0), "");
}

TEST(InitCommand, ItsDraftOfASourceAsItIsPassesTheCheck) {
    const Scratch scratch;
    write_kernel(scratch, "by", "by");
    std::filesystem::remove(scratch / "own/shift.toml");
    const auto made = run(scratch, {"init", "own/shift.cu"});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("own/shift.toml: settle each TODO, then run 'smemtune check own'"));
    EXPECT_EQ(finding_of(scratch, 0), "");
    const auto again = run(scratch, {"init", "own/shift.cu"});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("own/shift.toml exists; remove it"));
    EXPECT_THAT(run(scratch, {"init", "gone.cu"}).err, HasSubstr("gone.cu cannot be read"));
    EXPECT_THAT(run(scratch, {"init"}).err, HasSubstr("init needs a source"));
}

TEST(ExplainCommand, AKernelThatDoesNotCompileIsSaidToBeSo) {
    const Scratch scratch;
    write_kernel(scratch, "__ldg(in + i)", "__ldg(in + j)");
    for (const auto* device : {"host", "sm_90"}) {
        const std::vector<std::string> words{"explain", "shift", "--templates", "own",
                                             "--sizes", "64",    "--device",    device};
        auto with_json = words;
        with_json.insert(with_json.end(), {"--config", "FAST=1", "--json"});
        const auto finished = run(scratch, with_json);
        EXPECT_EQ(finished.code, 1) << device << finished.err;
        const auto document = json::parse(finished.out);
        EXPECT_THAT(document.at("not_feasible").get<std::string>(), HasSubstr("it does not compile: shift.cu"));
        EXPECT_FALSE(document.contains("blocks_per_multiprocessor"));
        EXPECT_FALSE(document.contains("registers_from"));
        EXPECT_EQ(run(scratch, words).code, 0) << "FAST=0 does not have the mistake";
    }
}

TEST(CheckCommand, EachMistakeIsFoundBeforeATuningRunMeetsIt) {
    struct Broken {
        std::string from, to, finding;
        int code = 1;
    };
    for (const auto& [from, to, finding, code] : {
             Broken{"__ldg(in + i)", "__ldg(in + j)", "error BLOCK_SIZE=128,FAST=1: shift.cu:"},
             Broken{"(double)by + in[i]; m", "by + in[q]; m", "error reference: shift.cu:"},
             Broken{"float by, const float* __r", "double by, const float* __r",
                    "by its manifest the kernel takes (int n"},
             Broken{"values = [0, 1]", "values = [1, 2]", "warning FAST: all values compile to the same machine code",
                    0},
             Broken{"[launch]", "[[constraint]]\nrule = \"BLOCK_SIZE < 256\"\nreason = \"r\"\n[launch]",
                    "warning BLOCK_SIZE: no valid configuration has the value 256", 0},
             Broken{"[launch]", "[[constraint]]\nrule = \"BLOCK_SIZE < 4\"\nreason = \"r\"\n[launch]",
                    "error parameters: no configuration is valid"},
             Broken{"host = true", "host = false", "error"},
         }) {
        const Scratch scratch;
        write_kernel(scratch, from, to);
        EXPECT_THAT(finding_of(scratch, code), HasSubstr(finding)) << to;
    }
    const Scratch scratch;
    write_kernel(scratch, "values = [0, 1]", "values = [0, 0]");
    const auto malformed = checked(scratch);
    EXPECT_EQ(malformed.code, 2);
    EXPECT_THAT(malformed.err, HasSubstr("shift.toml:"));
    EXPECT_EQ(run(scratch, {"check"}).code, 2);
}

TEST(CheckCommand, ParametersInAnotherOrderThanTheManifestsAreFound) {
    const Scratch swapped;
    write_kernel(swapped, "const float* __restrict__ in, float *out", "float *out, const float* __restrict__ in");
    EXPECT_THAT(finding_of(swapped, 0), HasSubstr("warning the kernel: parameter 3 of 'shift' is 'out', and the "
                                                  "manifest's argument there is 'in'; arguments are passed in the "
                                                  "manifest's order"));
    const Scratch reference;
    write_kernel(reference, "const float* in, float*, double", "float* out, const float* in, double");
    EXPECT_THAT(finding_of(reference, 0), HasSubstr("warning reference: parameter 3 of 'reference' is 'out'"));
    const Scratch renamed;
    write_kernel(renamed, "in, float *out) {", "in_, float *out_) {\n    const float* in = in_; float* out = out_;");
    EXPECT_EQ(finding_of(renamed, 0), "") << "names need not be the manifest's";
    const Scratch constant;
    write_kernel(constant, "const float* __restrict__ in, float *out) {",
                 "float* y, const float* x) {\n    const float* in = x; float* out = y;");
    EXPECT_THAT(finding_of(constant, 0), HasSubstr("warning the kernel: parameter 4 of 'shift' is 'x', and the "
                                                   "manifest's argument there is 'out', an output, but the parameter "
                                                   "is const"));
}

TEST(CheckCommand, AKernelWithoutParametersIsNamed) {
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "own");
    const std::string source = "__global__ void copy(int n, const float* in, float* out) { out[n] = q; }\n";
    write_text(scratch / "own/shift.cu", source);
    write_text(scratch / "own/shift.toml", draft_manifest("shift.cu", source));
    EXPECT_THAT(finding_of(scratch, 1), HasSubstr("error the kernel: shift.cu:1"));
}

TEST(CheckCommand, AnErrorOfAllProgramsIsPrintedOnce) {
    const Scratch scratch;
    write_kernel(scratch, "in[i]; magnitude", "q; magnitude");
    const auto finished = run(scratch, {"check", "own", "--device", "host"});
    EXPECT_EQ(finished.code, 1);
    EXPECT_THAT(finished.out, HasSubstr("  error    reference and "));
    EXPECT_THAT(finished.out, HasSubstr(" more: shift.cu:"));
    const auto first = finished.out.find("shift.cu:");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(finished.out.find("shift.cu:", first + 1), std::string::npos);
}

}  // namespace
}  // namespace smemtune
