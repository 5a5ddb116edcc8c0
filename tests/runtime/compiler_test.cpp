#include "runtime/compiler.h"

#include <gmock/gmock.h>

#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Replaces `from` with `to` in the source of a gemm kernel and compiles it. Returns the compiler's error; empty if
// there is none.
std::string rejection_of(const Device& device, const std::string& from, const std::string& to) {
    auto sources = stepping_sources();
    auto& source = sources.at("stepping.cu");
    if (!from.empty()) source.replace(source.find(from), from.size(), to);
    const auto kernel = load_templates(sources).front();
    const auto program = program_of(kernel, parse_configuration("STEP=2"), gemm(4, 4, 4));
    const auto compiled = make_compiler(device, {.host_compiler = SMEMTUNE_CXX})->compile(program);
    const auto* rejection = std::get_if<Rejection>(&compiled);
    return rejection == nullptr ? "" : rejection->reason;
}

class ParametersOfAKernel : public testing::TestWithParam<const char*> {
protected:
    Device device = std::string(GetParam()) == "host" ? host_device() : model_device(GetParam());
};

TEST_P(ParametersOfAKernel, AreThoseOfItsManifest) {
    EXPECT_EQ(rejection_of(device, "", ""), "");
    EXPECT_EQ(rejection_of(device, "int K, Element alpha", "const unsigned K, float alpha"), "") << "of the same size";
    EXPECT_EQ(rejection_of(device, "extern", "#define T float\n#define size 1\nextern"), "");
    const auto complaint =
        HasSubstr("by its manifest the kernel takes (int M, int N, int K, Element alpha, const Element* A");
    EXPECT_THAT(rejection_of(device, "int K,", "long long K,"), complaint);
    EXPECT_THAT(rejection_of(device, ", long long ldc", ", long long ldc, int more"), complaint);
}

// In an `#if` before the source's include of configuration.h, an undefined parameter would count as 0 without an error.
TEST_P(ParametersOfAKernel, ReachConditionsBeforeTheSourcesOwnInclude) {
    const std::string include = "#include \"configuration.h\"";
    EXPECT_EQ(rejection_of(device, include, "#if STEP != 2\n#error late\n#endif\n" + include), "");
    EXPECT_THAT(rejection_of(device, include, "#if STEP == 2\n#error early\n#endif\n" + include), HasSubstr("early"));
}

TEST_P(ParametersOfAKernel, BelongToTheKernelThatTheManifestNames) {
    EXPECT_THAT(rejection_of(device, "void stepping(", "void misnamed("),
                AllOf(HasSubstr("stepping.cu"), HasSubstr("stepping")));
}

INSTANTIATE_TEST_SUITE_P(Devices, ParametersOfAKernel, testing::Values("host", "sm_90"),
                         [](const auto& of) { return std::string(of.param); });

TEST(ReadableError, OfAParameterCheckHasNoLineAndNoColumn) {
    const std::string mark = signature_check_mark;
    EXPECT_EQ(readable_error("a.cu" + mark + "f'(1): error: static assertion failed"),
              "a.cu" + mark + "f': static assertion failed");
    EXPECT_EQ(readable_error("a.cu" + mark + "f<'x'>':1:15: error: no"), "a.cu" + mark + "f<'x'>': no");
    for (const auto& line :
         std::vector<std::string>{"a.cu:3:1: error: expected ';'", "a.cu" + mark + "f'(1): warning: x", ""}) {
        EXPECT_EQ(readable_error(line), line);
    }
}

// Returns the check at the end of a program. It compares the parameters of the entry point with those of the manifest.
std::string check_in(const Program& program) {
    const auto& source = program.files.at(program.source_path);
    return source.substr(source.rfind("static_assert(smemtune_same"));
}

TEST(ProgramOfAKernel, ChecksEveryParameterByItsSizeAndNamesThem) {
    const auto kernel = find_template(builtin_templates(), "warp_tiled");
    const auto program = program_of(kernel, default_configuration(kernel), gemm(4, 4, 4));
    EXPECT_EQ(program.entry, "warp_tiled");
    EXPECT_EQ(program.source_path, "gemm/warp_tiled.cu");
    const auto check = check_in(program);
    EXPECT_THAT(check,
                HasSubstr("(int M, int N, int K, Element alpha, const Element* A, long long lda, const Element* B, "
                          "long long ldb, Element beta, Element* C, long long ldc"));
    EXPECT_THAT(check, HasSubstr("SmemtuneSizes<4, 4, 4, 4, 0, 8, 0, 8, 4, 0, 8"));
    EXPECT_THAT(check, HasSubstr("the address of its workspace)"));
    EXPECT_THAT(check, HasSubstr("by its manifest the kernel takes ("));
    EXPECT_TRUE(program.files.contains("configuration.h"));
}

TEST(ProgramOfAReference, TakesTheArgumentsThenValueAndMagnitudeOfEachOutput) {
    const auto kernel = find_template(builtin_templates(), "tiled");
    const auto program = reference_program(kernel, gemm(4, 4, 4));
    EXPECT_EQ(program.entry, "reference");
    EXPECT_EQ(program.source_path, "gemm/reference.cu");
    EXPECT_TRUE(program.options.empty()) << "fast mathematics must not change a reference";
    EXPECT_FALSE(program.on_host);
    const auto check = check_in(program);
    EXPECT_THAT(check, HasSubstr("by its manifest the reference takes (int M, int N, int K, "));
    EXPECT_THAT(check, HasSubstr("double* value of C, double* magnitude of C)"));
}

Argument& argument_of(KernelTemplate& kernel, const std::string& name) {
    return *std::ranges::find(kernel.operation.arguments, name, &Argument::name);
}

TEST(ProgramOfAKernel, AloneHasTheTemplatesOptionsAndNoProgramHasItsNumbers) {
    auto kernel = find_template(builtin_templates(), "tiled");
    kernel.options = {"--use_fast_math"};
    kernel.files["gemm/numbers.npy"] = "1234";
    const auto program = program_of(kernel, default_configuration(kernel), gemm(4, 4, 4));
    const auto reference = reference_program(kernel, gemm(4, 4, 4));
    EXPECT_EQ(program.options, kernel.options);
    EXPECT_TRUE(reference.options.empty());
    for (const auto& each : {program, reference}) EXPECT_FALSE(each.files.contains("gemm/numbers.npy"));
    EXPECT_TRUE(program.files.contains("gemm/tiled.cu"));
}

TEST(ProgramOfAKernel, NeedsItsConfigurationFirstIfItHasMacros) {
    auto kernel = find_template(builtin_templates(), "tiled");
    const auto needs = [&] {
        return program_of(kernel, default_configuration(kernel), gemm(4, 4, 4)).needs.configuration;
    };
    kernel.source_needs.configuration = false;
    kernel.macros.clear();
    EXPECT_FALSE(needs());
    kernel.macros = {"TILE_WIDTH"};
    EXPECT_TRUE(needs());
    kernel.source_needs.configuration = true;
    kernel.macros.clear();
    EXPECT_TRUE(needs());
}

TEST(ProgramOfAKernel, FindsASymbolInItsSourceAndAReferenceTakesItAsAnArgument) {
    auto kernel = find_template(builtin_templates(), "tiled");
    argument_of(kernel, "B").symbol = "filter";
    const auto program = program_of(kernel, default_configuration(kernel), gemm(4, 4, 4));
    EXPECT_EQ(program.symbols, std::vector<std::string>{"filter"});
    EXPECT_THAT(check_in(program), AllOf(HasSubstr("const Element* A, long long lda, long long ldb, "),
                                         HasSubstr("static_assert(sizeof(filter) > 0, \"symbol of argument B\");")));
    const auto check = check_in(reference_program(kernel, gemm(4, 4, 4)));
    EXPECT_THAT(check, HasSubstr("const Element* A, long long lda, const Element* B, long long ldb, "));
    EXPECT_THAT(check, testing::Not(HasSubstr("sizeof(filter)")));
}

TEST(ProgramOfAVerifier, TakesTheInoutsFromBeforeAndThenItsAnswer) {
    auto kernel = find_template(builtin_templates(), "tiled");
    kernel.files["gemm/verify.cu"] = kernel.files["gemm/verify.cpp"] = "\n";
    auto& operation = kernel.operation;
    operation.reference.kind = OperationReference::Kind::verify_kernel;
    operation.reference_path = "gemm/verify.cu";
    auto program = reference_program(kernel, gemm(4, 4, 4));
    EXPECT_EQ(program.entry, "verify");
    EXPECT_FALSE(program.on_host);
    EXPECT_THAT(check_in(program), HasSubstr("the verify function takes (int M, int N, int K, "));
    EXPECT_THAT(check_in(program), HasSubstr("Element* C, long long ldc, long long* wrong)"));
    argument_of(kernel, "C").is_read = true;
    operation.reference.kind = OperationReference::Kind::verify_host;
    operation.reference_path = "gemm/verify.cpp";
    program = reference_program(kernel, gemm(4, 4, 4));
    EXPECT_TRUE(program.on_host);
    EXPECT_THAT(check_in(program), HasSubstr("long long ldc, const Element* C before, char* message)"));
}

}  // namespace
}  // namespace smemtune
