// Tests which tasks ProblemTuner gives to workers, without real workers.
#include "tuner/problem/problem_tuner.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

// When the budget is spent, a program of a different problem keeps all compiler threads busy. The sole finalist is a
// trial that an earlier run has stored.
TEST(ProblemTuner, WaitsForNoCompilerWhenASoleFinalistIsRecalled) {
    FakeRun fake;
    fake.compiler.hold_all();
    const auto& run = fake.start();
    const auto& kernel = fake.request.templates.front();
    fake.store.remember(TrialRecord{.key = fake.searches().front()->key(),
                                    .configuration = default_configuration(kernel),
                                    .outcome = steady(100),
                                    .run = run.run_row,
                                    .verified_by = fake.identity()});
    (void)fake.pool.submit({.entry = "another", .source_path = "kernel.cu", .files = {{"kernel.cu", ""}}});
    ProblemTuner tuner(run, fake.problem(), fake.spaces.front());
    tuner.end_search("budget");
    EXPECT_FALSE(tuner.next());
    EXPECT_TRUE(tuner.is_compiling()) << "the winner's program is submitted, and nobody waits under the run's lock";
    fake.compiler.release_all();
    EXPECT_TRUE(soon([&] { return !tuner.is_compiling(); }));
    while (const auto task = tuner.next()) {
        const auto& final = std::get<FinalTask>(*task);
        EXPECT_NE(final.purpose, FinalTask::Purpose::decide) << "a sole finalist has nothing to decide";
        tuner.finish(final, std::vector<Outcome>{steady(100)}, 0);
    }
    EXPECT_TRUE(tuner.is_done());
    EXPECT_EQ(winners_in(fake.scratch / "t.db").size(), 1U);
    ASSERT_TRUE(tuner.result().best);
    EXPECT_EQ(tuner.result().best->configuration, default_configuration(kernel));
}

TEST(ProblemTuner, TasksOfALostWorkerAreGivenToAnother) {
    FakeRun fake;
    fake.request.search = "exhaustive";
    fake.request.evaluations = 2;
    const auto& run = fake.start();
    ProblemTuner tuner(run, fake.problem(), fake.spaces.front());
    const auto described = [](const Task& task) {
        if (const auto* trial = std::get_if<TrialTask>(&task)) return to_text(trial->candidate.configuration);
        const auto& final = std::get<FinalTask>(task);
        return "finals " + std::to_string(static_cast<int>(final.purpose)) + " of " +
               std::to_string(final.entrants.size());
    };
    const auto next = [&] {
        auto first = tuner.next();
        if (!first) return first;
        const auto expected = described(*first);
        tuner.give_back(std::move(*first));
        auto again = tuner.next();
        EXPECT_TRUE(again && described(*again) == expected) << expected;
        return again;
    };
    while (const auto task = next()) {
        if (const auto* trial = std::get_if<TrialTask>(&*task)) {
            trial->candidate.compiled.wait();
            tuner.finish(trial->candidate, {.outcome = steady(100), .verified = true});
        } else {
            const auto& final = std::get<FinalTask>(*task);
            tuner.finish(final, std::vector<Outcome>(final.entrants.size(), steady(100)), 0);
        }
    }
    EXPECT_TRUE(tuner.is_done());
    EXPECT_EQ(winners_in(fake.scratch / "t.db").size(), 1U);
}

// In an earlier, complete run, two evaluations without a gain ended the search. A fourth trial then brought a gain.
// The search stays ended, unless one of its trials was verified with other checks.
TEST(ProblemTuner, ACompleteRunEndsASearchUnlessItsTrialsCountNoMore) {
    for (const bool foreign : {false, true}) {
        FakeRun fake;
        fake.request.stopping.patience = 2;
        const auto& run = fake.start();
        const auto remember = [&](std::int64_t value, Outcome outcome, const std::string& verified_by) {
            fake.store.remember(TrialRecord{.key = fake.searches().front()->key(),
                                            .configuration = work(value),
                                            .outcome = std::move(outcome),
                                            .run = run.run_row,
                                            .verified_by = verified_by});
        };
        for (const auto value : {64, 48, 32}) remember(value, steady(100), fake.identity());
        remember(24, steady(50), fake.identity());
        if (foreign) remember(16, Rejection{Stage::wrong, "C[0,0] is nan"}, "other/checks");
        fake.store.finish_run(run.run_row, "complete");
        const ProblemTuner tuner(run, fake.problem(), fake.spaces.front());
        EXPECT_EQ(tuner.open_searches(), foreign ? 1U : 0U);
    }
}

// At the end of a search, the values of run-time parameters are tried, unless the search has reached the roofline goal.
TEST(ProblemTuner, AtTheRooflineNothingMoreIsTried) {
    for (const bool reached : {false, true}) {
        FakeRun fake;
        auto& kernel = fake.request.templates.front();
        kernel.operation.operations = Expression("1000000");
        kernel.parameters.push_back(
            {.name = "ARGUMENT", .values = {1, 2}, .default_value = 1, .summary = "", .runtime = true});
        fake.request.roofline = reached ? 1e-9 : 1e9;
        fake.request.stopping.patience = 1;
        const auto& run = fake.start();  // fills `fake.spaces`
        ProblemTuner tuner(run, fake.problem(), fake.spaces.front());
        bool swept = false;
        for (auto task = tuner.next(1); task && std::holds_alternative<TrialTask>(*task); task = tuner.next(1)) {
            const auto& candidate = std::get<TrialTask>(*task).candidate;
            candidate.compiled.wait();
            swept = swept || candidate.configuration.values.at("ARGUMENT") == 2;
            if (tuner.settle_without_trial(candidate)) continue;
            tuner.finish(candidate, {.outcome = steady(100), .verified = true});
        }
        EXPECT_EQ(swept, !reached);
    }
}

// Uses one template with nine configurations. The compile of the first candidate lasts until the end of the test.
class ProblemTunerOnAGpu : public ::testing::Test {
protected:
    ProblemTuner& tuner(const std::string& search, std::optional<std::size_t> evaluations = {}) {
        fake_.compiler.hold("WORK = 64;");
        fake_.request.search = search;
        fake_.request.evaluations = evaluations;
        const auto& run = fake_.start(4);
        return tuner_.emplace(run, fake_.problem(), fake_.spaces.front());
    }
    static std::string tried(const std::optional<Task>& task) {
        return task ? to_text(std::get<TrialTask>(*task).candidate.configuration) : "nothing";
    }

    FakeRun fake_{4};
    std::optional<ProblemTuner> tuner_;
};

TEST_F(ProblemTunerOnAGpu, OneWorkerKeepsToTheOrderAndSeveralTakeCompiledCandidates) {
    auto& tuner = this->tuner("exhaustive");
    EXPECT_FALSE(tuner.is_ready(1));
    ASSERT_TRUE(soon([&] { return tuner.is_ready(2); }));
    EXPECT_FALSE(tuner.is_ready(1)) << "the first is not compiled";
    EXPECT_NE(tried(tuner.next(2)), "WORK=64");
    EXPECT_EQ(tried(tuner.next(1)), "WORK=64");
}

TEST_F(ProblemTunerOnAGpu, TheRestOfASmallSpaceIsCompiledSpeculatively) {
    auto& tuner = this->tuner("surrogate");
    EXPECT_EQ(tuner.speculative_programs().size(), 9U);
    EXPECT_FALSE(tuner.is_ready());  // the call submits four proposals
    EXPECT_EQ(tuner.speculative_programs().size(), 5U);
    EXPECT_EQ(tuner.open_searches(), 1U);
    tuner.end_search("budget");
    EXPECT_TRUE(tuner.speculative_programs().empty());
}

TEST_F(ProblemTunerOnAGpu, ALimitOfEvaluationsForbidsSpeculation) {
    EXPECT_TRUE(tuner("surrogate", 6).speculative_programs().empty());
}

TEST_F(ProblemTunerOnAGpu, ALimitOfEvaluationsCountsTheTrialsThatWorkersHave) {
    auto& tuner = this->tuner("exhaustive", 3);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(tuner.next(4)) << i;
    EXPECT_FALSE(tuner.next(4));
}

}  // namespace
}  // namespace smemtune
