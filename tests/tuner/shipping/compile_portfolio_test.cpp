#include "tuner/shipping/compile_portfolio.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <span>

#include "db/portfolio/portfolio_text.h"
#include "runtime/selection.h"
#include "tests/tuner/support/fake_compiler.h"
#include "util/hash.h"

namespace smemtune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Problem shipped_like{"gemm", "f32", "nn", {}};

const KernelTemplate& shipped_template(const std::vector<KernelTemplate>& templates, const std::string& name) {
    return *std::ranges::find(templates, name, &KernelTemplate::name);
}

class CompilePortfolio : public ::testing::Test {
protected:
    Scratch scratch;
    Store store{scratch / "shipped.db"};
    FakeCompiler compiler;
    std::vector<KernelTemplate> templates = builtin_templates();

    // Returns a member whose identity and code hash say that it was verified with the compiler of this test.
    PortfolioRow verified(const std::string& name) const {
        const auto& kernel = shipped_template(templates, name);
        const auto configuration = default_configuration(kernel);
        const auto binary = std::get<Binary>(compiler.compile(program_of(kernel, configuration, shipped_like)));
        return {.member = {.configuration = configuration,
                           .model = {.coefficients = {1, 0, 0, 0, 2}, .error = 0.1, .residuals = {}},
                           .registers = 32,
                           .static_shared_bytes = 64,
                           .classes = {"111"},
                           .verified_by = operation_identity(kernel, shipped_like) + "/testbed",
                           .code_hash = sha256(std::as_bytes(std::span(binary.code)))},
                .kernel_template = name,
                .template_hash = kernel.hash};
    }

    PortfolioText portfolio(std::vector<PortfolioRow> members) const {
        return {.device = model_device("sm_90"),
                .operation = "gemm",
                .type = "f32",
                .layout = "nn",
                .target = "fake",
                .compiler = "1",
                .members = std::move(members)};
    }

    CompiledPortfolio compile(const PortfolioText& text) {
        return compile_portfolio(text, templates, compiler, 2, store);
    }

    [[nodiscard]] Portfolio stored() const {
        const auto device = store.find(model_device("sm_90"));
        return device ? store.portfolio({*device, "gemm", "f32", "nn"}) : Portfolio{};
    }
};

TEST_F(CompilePortfolio, MembersWithTheMachineCodeThatWasVerifiedAreStoredInTheirOrder) {
    const auto text = portfolio({verified("tiled"), verified("naive")});
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 2);
    EXPECT_THAT(compiled.left_out, ElementsAre());
    const auto found = stored();
    ASSERT_EQ(found.members.size(), 2);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(found.members[i].kernel_template, text.members[i].kernel_template);
        EXPECT_EQ(found.members[i].template_hash, text.members[i].template_hash);
        auto wanted = text.members[i].member;
        wanted.kernel_template = found.members[i].member.kernel_template;
        EXPECT_EQ(found.members[i].member, wanted);
        const auto code = store.recall_binary(wanted.kernel_template, wanted.configuration, "fake f32 nn");
        ASSERT_TRUE(code);
        EXPECT_EQ(sha256(std::as_bytes(std::span(code->code))), wanted.code_hash);
        const auto& kernel = shipped_template(templates, text.members[i].kernel_template);
        EXPECT_EQ(store.recall_template(wanted.kernel_template)->files, kernel.files);
    }
}

TEST_F(CompilePortfolio, OtherMachineCodeThanWasVerifiedIsLeftOutAndTheRestStays) {
    auto text = portfolio({verified("tiled"), verified("naive")});
    text.members[0].member.code_hash[0] = text.members[0].member.code_hash[0] == '0' ? '1' : '0';
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 1);
    EXPECT_THAT(compiled.left_out, ElementsAre(HasSubstr("tiled ")));
    EXPECT_THAT(compiled.left_out,
                ElementsAre(HasSubstr(": 1 made machine code that differs from the verified code in each of 8 compiles "
                                      "(SHA-256 ")));
    EXPECT_EQ(compiler.begun().size(), 11) << "two to verify, one of the right member";
    ASSERT_EQ(stored().members.size(), 1);
    EXPECT_EQ(stored().members[0].kernel_template, "naive");
    EXPECT_EQ(store.summary().binaries, 1);
}

TEST_F(CompilePortfolio, AMemberWithAParameterOrAValueThatTheTemplateLacksIsLeftOut) {
    auto text = portfolio({verified("tiled"), verified("naive"), verified("row_tile")});
    text.members[0].member.configuration.values["FOO"] = 3;
    text.members[1].member.configuration.values["BLOCK_X"] = 99;
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 1);
    EXPECT_THAT(compiled.left_out, ElementsAre(HasSubstr("the template has no parameter FOO"),
                                               HasSubstr("99 is no value of the template's parameter BLOCK_X")));
}

TEST_F(CompilePortfolio, AMemberIsCompiledAgainUntilItsMachineCodeIsThatWhichWasVerified) {
    const auto text = portfolio({verified("tiled")});
    compiler.variants = 3;
    EXPECT_EQ(compile(text).stored, 1);
    EXPECT_EQ(compiler.begun().size(), 4) << "one to verify, two with other code";
}

TEST_F(CompilePortfolio, MembersAreCompiledOnceIfManyHaveOtherMachineCode) {
    auto text = portfolio({verified("tiled"), verified("naive"), verified("row_tile"), verified("strip_tiled")});
    for (std::size_t i = 0; i < 3; ++i) text.members[i].member.code_hash = "of another toolkit";
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 1);
    EXPECT_THAT(compiled.left_out, Each(HasSubstr("the verified code (SHA-256 ")));
    EXPECT_EQ(compiler.begun().size(), 8) << "four to verify";
}

TEST_F(CompilePortfolio, AnotherCompilerCompilesAMemberOnce) {
    auto text = portfolio({verified("tiled")});
    text.compiler = "an older one";
    compiler.variants = 2;
    EXPECT_THAT(compile(text).left_out, ElementsAre(HasSubstr("differs from the verified code")));
    EXPECT_EQ(compiler.begun().size(), 2) << "one to verify";
}

TEST_F(CompilePortfolio, AnEditedTemplateOrOperationIsLeftOutAndNotCompiled) {
    auto text = portfolio({verified("tiled"), verified("naive"), verified("tiled")});
    text.members[0].template_hash = "of an earlier version";
    text.members[1].member.verified_by = "another operation/testbed";
    text.members[2].kernel_template = "absent";
    const auto begun = compiler.begun().size();
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 0);
    EXPECT_THAT(compiled.left_out,
                ElementsAre(HasSubstr("the template was edited since"),
                            HasSubstr("the operation's reference or checks"), HasSubstr("there is no such template")));
    EXPECT_EQ(compiler.begun().size(), begun);
    EXPECT_TRUE(stored().members.empty());
}

TEST_F(CompilePortfolio, AnEarlierVersionWithTheSameMachineCodeCounts) {
    auto& kernel = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    auto text = portfolio({verified("tiled")});
    kernel.same_code_as = {"earlier"};
    text.members[0].template_hash = "earlier";
    EXPECT_EQ(compile(text).stored, 1);
    EXPECT_EQ(stored().members.at(0).template_hash, kernel.hash);
}

TEST_F(CompilePortfolio, AParameterThatAMemberLacksHasItsDefault) {
    auto text = portfolio({verified("naive")});
    auto& values = text.members[0].member.configuration.values;
    values.erase(values.begin());
    const auto compiled = compile(text);
    EXPECT_EQ(compiled.stored, 1) << compiled.left_out.front();
}

TEST_F(CompilePortfolio, AMemberThatNoLongerCompilesIsLeftOutWithTheReason) {
    auto text = portfolio({verified("tiled")});
    const class : public FakeCompiler {
        [[nodiscard]] std::variant<Binary, Rejection> compile(const Program&) const override {
            return Rejection{Stage::compile, "line 1: wrong"};
        }
    } refusing;
    const auto compiled = compile_portfolio(text, templates, refusing, 1, store);
    EXPECT_THAT(compiled.left_out, ElementsAre(HasSubstr("line 1: wrong")));
}

// Machine code for a GPU must not depend on when or where it is compiled, or on concurrent compiles. Otherwise, no
// member of a shipped portfolio would count as verified.
TEST(NvrtcTarget, CompilingAPortfolioAgainMakesTheSameMachineCode) {
    const auto& templates = builtin_templates();
    const auto compiler = make_compiler(model_device("sm_90"));
    PortfolioText text{.device = model_device("sm_90"),
                       .operation = "gemm",
                       .type = "f32",
                       .layout = "nn",
                       .target = compiler->target(),
                       .compiler = compiler->version(),
                       .members = {}};
    for (const auto* name : {"warp_tiled", "tiled", "naive"}) {
        const auto& kernel = shipped_template(templates, name);
        const auto program = program_of(kernel, default_configuration(kernel), shipped_like);
        const auto binary = std::get<Binary>(compiler->compile(program));
        text.members.push_back({.member = {.configuration = default_configuration(kernel),
                                           .classes = {"111"},
                                           .verified_by = operation_identity(kernel, shipped_like) + "/testbed",
                                           .code_hash = sha256(std::as_bytes(std::span(binary.code)))},
                                .kernel_template = name,
                                .template_hash = kernel.hash});
    }
    const Scratch scratch;
    write_text(scratch / "gpu.toml", to_toml(text));
    const auto compiled = run(scratch, {"db", "compile", "--to", "gpu.db", "--target", "sm_90", "gpu.toml"});
    EXPECT_EQ(compiled.code, 0) << compiled.err;
    EXPECT_THAT(compiled.out, HasSubstr("3 of 3 members have the machine code that was verified"));
    EXPECT_EQ(compiled.err, "");
}

// CI compiles only one complete portfolio (.ci/run), so this test compiles one member of each template of every
// portfolio. All members of a template have the same hash and the same identity.
TEST(ShippedPortfolios, HaveTheMachineCodeThatWasVerified) {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SMEMTUNE_SOURCE_DIR) + "/db/portfolios")) {
        if (entry.path().extension() != ".toml") continue;
        SCOPED_TRACE(entry.path().filename().string());
        ++found;
        auto text = parse_portfolio_text(entry.path(), read_text(entry.path()));
        std::set<std::string> seen;
        std::erase_if(text.members, [&](const auto& row) { return !seen.insert(row.kernel_template).second; });
        const auto compiler = make_compiler(text.device);
        const Scratch scratch;
        Store store(scratch / "shipped.db");
        const auto compiled = compile_portfolio(text, builtin_templates(), *compiler, 2, store);
        if (compiler->version() == text.compiler) {
            EXPECT_THAT(compiled.left_out, IsEmpty());
        } else {
            // Another compiler makes other machine code. Members are left out for this reason alone.
            EXPECT_THAT(compiled.left_out, Each(HasSubstr("differs from the verified code")));
        }
    }
    EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace smemtune
