// What a problem's tuning asks of its workers, without any.
#include "tuner/problem_tuner.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"
#include "tuner/progress.h"

namespace smemtune {
namespace {

// Compiles nothing before it is let go, or a test has waited in vain.
class HeldCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        held_.wait_for(10s);
        return Binary{.entry = program.entry, .target = target(), .compiler = version(), .code = {1}};
    }
    [[nodiscard]] std::string target() const override { return "pretended"; }
    [[nodiscard]] std::string version() const override { return "1"; }
    void let_go() { gate_.set_value(); }

private:
    std::promise<void> gate_;
    std::shared_future<void> held_ = gate_.get_future().share();
};

// Another problem's candidates keep every compiler busy when a budget is spent: what is left of this one is the trial
// that an earlier run has stored.
TEST(ProblemTuner, WaitsForNoCompilerWhenASoleFinalistIsRecalled) {
    const Scratch scratch;
    const TuneRequest request{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}}},
        .templates = load_templates(read_sources(fixture("work")))};
    const auto device = find_device("host").device;
    const auto spaces = plan(request, device);
    const auto& kernel = request.templates.front();
    Store store(scratch / "t.db", Store::Access::write);
    const auto row = store.remember(device);
    const TrialKey key{row,
                       store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files},
                                      default_configuration(kernel)),
                       store.remember(request.problems.front())};
    const auto run = store.start_run({"{}", "{}", "{}"});
    store.remember(TrialRecord{.key = key,
                               .configuration = default_configuration(kernel),
                               .outcome = Measurement{.median_us = 100, .samples_us = {100, 100, 100}},
                               .run = run});

    HeldCompiler compiler;
    CompilePool pool(compiler, 1);
    TuneReport report;
    Progress progress(stderr, false, 0);
    const TuningContext context{.request = request,
                                .device = device,
                                .device_row = row,
                                .compiler = compiler,
                                .pool = pool,
                                .store = store,
                                .run = run,
                                .ahead = 1,
                                .report = report,
                                .progress = progress};
    (void)pool.submit({.entry = "another", .source_path = "kernel.cu", .files = {{"kernel.cu", ""}}});
    ProblemTuner tuner(context, request.problems.front(), spaces.front());
    tuner.end_search("budget");
    EXPECT_FALSE(tuner.next());
    EXPECT_TRUE(tuner.is_compiling()) << "its winner's program is asked for, and nobody waits under the run's lock";
    compiler.let_go();
    EXPECT_TRUE(soon([&] { return !tuner.is_compiling(); }));
    EXPECT_FALSE(tuner.next()) << "one alone has nothing to play";
    EXPECT_TRUE(tuner.is_done());
    EXPECT_EQ(winners_in(scratch / "t.db").size(), 1U);
    ASSERT_TRUE(tuner.result().best);
    EXPECT_EQ(tuner.result().best->configuration, default_configuration(kernel));
}

}  // namespace
}  // namespace smemtune
