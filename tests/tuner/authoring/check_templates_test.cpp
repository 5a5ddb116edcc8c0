// Tests what check_template reports about a kernel's resources. A fake compiler returns the resources that a test sets.
#include "tuner/authoring/check_templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FindingCompiler : public Compiler {
public:
    explicit FindingCompiler(const Resources& resources) : resources_(resources) {}
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        return Binary{.entry = program.entry, .target = "", .compiler = "", .code = {}, .resources = resources_};
    }
    [[nodiscard]] std::string target() const override { return "fake"; }
    [[nodiscard]] std::string version() const override { return "1"; }

private:
    Resources resources_;
};

// Returns the findings for a kernel whose manifest declares 1024 bytes of static shared memory.
std::vector<std::string> findings(const Resources& resources) {
    SourceTree sources{{"turn.cu", ""}, {"turn.toml", R"toml([template]
name = "turn"
operation = "transpose"
types = ["f32"]
[launch]
block = ["1024"]
grid = ["1"]
static_shared_bytes = "1024"
)toml"}};
    const auto kernel = load_templates(sources).front();
    const Problem problem{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 8}, {"N", 8}}};
    const auto check = check_template(kernel, problem, model_device("sm_90"), FindingCompiler(resources), 1);
    std::vector<std::string> texts;
    for (const auto& each : check.findings) texts.push_back((each.is_error ? "error: " : "") + each.what);
    return texts;
}

TEST(CheckTemplates, StaticSharedMemoryUpToWhatIsDeclaredIsNoFinding) {
    EXPECT_THAT(findings({.registers = 32, .static_shared_bytes = 1024}), IsEmpty());
    EXPECT_THAT(findings({.registers = 32, .static_shared_bytes = 1025}),
                ElementsAre("uses 1025 bytes of static shared memory, more than the 1024 of static_shared_bytes; "
                            "correct the manifest"));
}

TEST(CheckTemplates, SpillsAreAFindingAndBrokenLimitsAnError) {
    EXPECT_THAT(findings({.registers = 64, .spill_bytes = 8}), ElementsAre("spills 8 bytes of registers"));
    EXPECT_THAT(findings({.registers = 72}), ElementsAre(HasSubstr("error: ")));
}

// A reference of narrow elements is compiled for the wide type, as it is for tuning.
TEST(CheckTemplates, TheReferenceIsCompiledForTheTypeInWhichItComputes) {
    const auto& all = builtin_templates();
    const auto& kernel = *std::ranges::find(all, "tensor_skinny", &KernelTemplate::name);
    class References : public FindingCompiler {
    public:
        References() : FindingCompiler({.registers = 32}) {}
        [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
            if (program.entry == "reference") configuration = program.files.at("configuration.h");
            return FindingCompiler::compile(program);
        }
        mutable std::string configuration;
    } compiler;
    check_template(kernel, gemm(4096, 16, 4096, "bf16", "nn"), model_device("sm_90"), compiler, 1);
    EXPECT_THAT(compiler.configuration, HasSubstr("using Element = float"));
}

TEST(CheckTemplates, AToleranceThatAZeroPassesIsAFinding) {
    const auto& all = builtin_templates();
    auto kernel = *std::ranges::find(all, "naive", &KernelTemplate::name);
    auto& output = *std::ranges::find(kernel.operation.arguments, Argument::Kind::output, &Argument::kind);
    const auto findings_of = [&](const Tolerance& tolerance) {
        output.tolerance = tolerance;
        std::vector<std::string> texts;
        const FindingCompiler compiler({.registers = 32});
        for (const auto& each : check_template(kernel, gemm(64, 64, 64), model_device("sm_90"), compiler, 1).findings) {
            if (each.where == output.name) texts.push_back(each.what);
        }
        return texts;
    };
    EXPECT_THAT(findings_of({.absolute = 1e-3, .relative = 0.1, .share = 0.1, .has_distance = true}), IsEmpty());
    EXPECT_THAT(
        findings_of({.relative = 1, .has_distance = true}),
        ElementsAre("with 'tolerance' of 'relative' >= 1, a kernel that writes only zeros passes; write a smaller "
                    "number"));
    EXPECT_THAT(findings_of({.share = 1}), ElementsAre(HasSubstr("of 'share' >= 1")));
}

// The default of P is valid for large problems only.
TEST(CheckTemplates, WhereTheDefaultIsNotValidTheFirstConfigurationThatIsTakesItsPlace) {
    const auto kernel = load_templates({{"turn.cu", ""}, {"turn.toml", R"toml([template]
name = "turn"
operation = "transpose"
types = ["f32"]
[[parameter]]
name = "P"
values = [1, 2, 4, 16]
default = 16
[[parameter]]
name = "Q"
values = [0, 1]
default = 1
[[constraint]]
rule = "P <= M"
reason = "no larger than the matrix"
[launch]
block = ["32"]
grid = ["1"]
static_shared_bytes = "0"
)toml"}}).front();
    const Problem problem{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 4}, {"N", 8}}};
    const auto space = feasible_space(kernel, problem, model_device("sm_90"));
    std::vector<std::string> texts;
    for (const auto& each : covering(kernel, space)) texts.push_back(to_text(each));
    EXPECT_THAT(texts, ElementsAre("P=1,Q=0", "P=2,Q=0", "P=4,Q=0", "P=1,Q=1"));
}

}  // namespace
}  // namespace smemtune
