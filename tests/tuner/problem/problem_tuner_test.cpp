// What a problem's tuning asks of its workers, without any.
#include "tuner/problem/problem_tuner.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"
#include "tuner/report/progress.h"

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
    Progress progress(stderr, Progress::Style::silent, {});
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

// Compiles at once, but for what says a word that is held back until it is let go.
class PartlyHeldCompiler : public Compiler {
public:
    explicit PartlyHeldCompiler(std::string held) : held_(std::move(held)) {}
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        const auto& text = program.files.at("configuration.h");
        if (text.find(held_) != std::string::npos) gate_.wait_for(10s);
        return Binary{.entry = program.entry, .target = target(), .compiler = version(), .code = {1}};
    }
    [[nodiscard]] std::string target() const override { return "pretended"; }
    [[nodiscard]] std::string version() const override { return "1"; }
    void let_go() { open_.set_value(); }

private:
    std::string held_;
    std::promise<void> open_;
    std::shared_future<void> gate_ = open_.get_future().share();
};

// One template of nine configurations, of which one is the first to be tried and compiles long.
class TunedOnAGpu : public ::testing::Test {
protected:
    ProblemTuner& tuner(const std::string& search, std::optional<std::size_t> evaluations = {}) {
        request_.search = search;
        request_.evaluations = evaluations;
        spaces_ = plan(request_, device_);
        context_.emplace(TuningContext{.request = request_,
                                       .device = device_,
                                       .device_row = store_.remember(device_),
                                       .compiler = compiler_,
                                       .pool = pool_,
                                       .store = store_,
                                       .run = store_.start_run({"{}", "{}", "{}"}),
                                       .ahead = 4,
                                       .report = report_,
                                       .progress = progress_});
        return tuner_.emplace(*context_, request_.problems.front(), spaces_.front());
    }
    void TearDown() override { compiler_.let_go(); }

    static std::string tried(const std::optional<Task>& task) {
        return task ? to_text(std::get<TrialTask>(*task).candidate.configuration) : "nothing";
    }

    Scratch scratch_;
    Device device_ = model_device("sm_90");
    TuneRequest request_{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}}},
        .templates = load_templates(read_sources(fixture("work")))};
    std::vector<std::vector<PlannedSpace>> spaces_;
    Store store_{scratch_ / "t.db", Store::Access::write};
    TuneReport report_;
    Progress progress_{stderr, Progress::Style::silent, {}};
    PartlyHeldCompiler compiler_{"WORK = 64;"};
    CompilePool pool_{compiler_, 4};
    std::optional<TuningContext> context_;
    std::optional<ProblemTuner> tuner_;
};

TEST_F(TunedOnAGpu, OneWorkerKeepsToTheOrderAndSeveralTakeWhatIsCompiled) {
    auto& tuner = this->tuner("exhaustive");
    EXPECT_FALSE(tuner.is_ready(1));
    ASSERT_TRUE(soon([&] { return tuner.is_ready(2); }));
    EXPECT_FALSE(tuner.is_ready(1)) << "the first is not compiled";
    EXPECT_NE(tried(tuner.next(2)), "WORK=64");
    EXPECT_EQ(tried(tuner.next(1)), "WORK=64");
}

TEST_F(TunedOnAGpu, WhatIsLeftOfASmallSpaceIsGuessed) {
    auto& tuner = this->tuner("surrogate");
    EXPECT_EQ(tuner.guesses().size(), 9U);
    EXPECT_FALSE(tuner.is_ready());  // proposes four
    EXPECT_EQ(tuner.guesses().size(), 5U);
    EXPECT_EQ(tuner.open_lanes(), 1U);
    tuner.end_search("budget");
    EXPECT_TRUE(tuner.guesses().empty());
}

TEST_F(TunedOnAGpu, WithALimitToWhatIsTriedNothingIsGuessed) { EXPECT_TRUE(tuner("surrogate", 6).guesses().empty()); }

}  // namespace
}  // namespace smemtune
