#include "tuner/problem/cross_size_stage.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/tuner/support/fake_run.h"
#include "tuner/problem/problem_tuner.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The parameter WORK has nine values. The search ends after a few of them, and the cross-size transfer follows. Every
// candidate takes 100 us, unless a test sets a different time.
class CrossSizeTransfer : public ::testing::Test {
protected:
    void start() {
        (void)fake_.start();
        tuner_ = std::make_unique<ProblemTuner>(*fake_.run, fake_.problem(), fake_.spaces.front());
    }
    void plan_and_search() {
        start();
        perform_all();
        ASSERT_TRUE(tuner_->is_done());
        tasks_.clear();
    }

    static std::string text(const Task& task) {
        if (const auto* trial = std::get_if<TrialTask>(&task)) return "try " + name(trial->candidate);
        const auto& final = std::get<FinalTask>(task);
        std::string text = final.purpose == FinalTask::Purpose::verify ? "verify" : "final";
        for (const auto& candidate : final.candidates) text += ", " + name(candidate);
        return text;
    }
    [[nodiscard]] Measurement measured(const Proposal& candidate) const {
        const auto us = us_.find(name(candidate));
        const auto uj = uj_.find(name(candidate));
        return steady(us == us_.end() ? 100 : us->second, uj == uj_.end() ? 100 : uj->second);
    }

    // Performs all tasks one after another, as a single worker would.
    void perform_all() {
        while (auto task = tuner_->next()) perform(*task);
        while (!tuner_->is_done() && soon([&] { return !tuner_->is_compiling(); })) {
            auto task = tuner_->next();
            if (!task) break;
            perform(*task);
        }
    }
    void perform(const Task& task) {
        if (tasks_.empty() || tasks_.back() != text(task)) tasks_.push_back(text(task));
        if (const auto* trial = std::get_if<TrialTask>(&task)) {
            if (tuner_->settle_without_trial(trial->candidate)) return;
            tuner_->finish(trial->candidate, TrialReport{.outcome = measured(trial->candidate), .verified = true});
            return;
        }
        std::vector<Outcome> outcomes;
        for (const auto& candidate : std::get<FinalTask>(task).candidates) outcomes.emplace_back(measured(candidate));
        tuner_->finish(std::get<FinalTask>(task), outcomes, 0);
    }

    // Stores a trial of 1 us, which makes `configuration` the fastest of its template at `problem`.
    void found_at(const Problem& problem, const Configuration& configuration, const KernelTemplate& kernel) {
        const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files};
        const TrialKey key{fake_.run->device_row, fake_.store.remember(record, default_configuration(kernel)),
                           fake_.store.remember(problem)};
        fake_.store.remember(TrialRecord{.key = key,
                                         .configuration = configuration,
                                         .outcome = Measurement{.median_us = 1, .samples_us = {1}},
                                         .verified_by = fake_.identity()});
    }
    void found_at(std::int64_t size, std::int64_t value) {
        found_at(transpose(size), work(value), request_.templates.front());
    }
    // Returns the values of WORK that the search has not tried.
    [[nodiscard]] std::vector<std::int64_t> untried() const {
        std::vector<std::int64_t> values;
        for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) {
            const auto rows = fake_.store.rows({.sizes = {"16x16"}});
            const bool tried = std::ranges::any_of(
                rows, [&](const TrialRow& row) { return row.record.configuration.values.at("WORK") == value; });
            if (!tried) values.push_back(value);
        }
        return values;
    }
    static std::string named(std::int64_t value) { return "work WORK=" + std::to_string(value); }
    [[nodiscard]] std::string database() const { return fake_.scratch / "t.db"; }

    CrossSizeTransfer() { request_.stopping.patience = 2; }

    FakeRun fake_;
    TuneRequest& request_ = fake_.request;
    std::unique_ptr<ProblemTuner> tuner_;
    std::map<std::string, double> us_, uj_;
    std::vector<std::string> tasks_;  // in order; equal tasks in a row are listed once
};

TEST_F(CrossSizeTransfer, AWinnerOfAnotherSizeMeetsTheWinner) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto untried_value = untried().at(0);
    us_[named(untried_value)] = 50;
    found_at(32, untried_value);
    tuner_->begin_transfer();
    EXPECT_TRUE(tuner_->is_searching());
    perform_all();
    ASSERT_TRUE(tuner_->is_done());
    const auto winner = "work " + to_text(before.best->configuration);
    EXPECT_THAT(tasks_, ElementsAre("try " + named(untried_value), "final, " + named(untried_value) + ", " + winner,
                                    "verify, " + named(untried_value), "final, " + named(untried_value)));
    const auto result = tuner_->result();
    EXPECT_EQ(to_text(result.best->configuration), "WORK=" + std::to_string(untried_value));
    EXPECT_EQ(result.evaluations, before.evaluations + 1);
    EXPECT_EQ(result.ended, "gain unlikely");
    EXPECT_GT(result.effort.total, before.effort.total);
    EXPECT_EQ(winners_in(database()).at(0), "transpose f32 16x16 " + named(untried_value));
}

TEST_F(CrossSizeTransfer, WithoutNewWinnersNothingChanges) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto trials = trials_in(database());
    for (const auto value : {64, 5}) {  // 64 is tried already, and 5 is not a value of WORK
        found_at(32 + value, value);
    }
    tuner_->begin_transfer();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_EQ(tuner_->result().effort.total, before.effort.total);
    EXPECT_EQ(trials_in(database()), trials + 2);
}

TEST_F(CrossSizeTransfer, WhatEndsItIsNotWhatEndedTheSearch) {
    for (const bool is_interrupted : {false, true}) {
        if (!is_interrupted) plan_and_search();
        const auto untried_value = untried().at(0);
        found_at(is_interrupted ? 64 : 32, untried_value);
        tuner_->begin_transfer();
        ASSERT_TRUE(tuner_->is_searching());
        if (is_interrupted) {
            tuner_->stop("interrupted");
        } else {
            tuner_->end_search("budget");
        }
        perform_all();
        EXPECT_TRUE(tuner_->is_done());
        EXPECT_EQ(tuner_->result().ended, "gain unlikely");
    }
}

TEST_F(CrossSizeTransfer, ASlowOneCostsATrialAndNoFinals) {
    plan_and_search();
    const auto before = tuner_->result().best->configuration;
    const auto untried_value = untried().at(0);
    us_[named(untried_value)] = 106;
    found_at(32, untried_value);
    tuner_->begin_transfer();
    perform_all();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_THAT(tasks_, ElementsAre("try " + named(untried_value)));
    EXPECT_EQ(tuner_->result().best->configuration, before);
}

TEST_F(CrossSizeTransfer, ItTriesTheWinnersOfTheFourNearestSizes) {
    plan_and_search();
    const auto untried_value = untried();
    ASSERT_GE(untried_value.size(), 5U);
    const std::vector<std::int64_t> sizes{256, 128, 64, 32, 20};
    for (std::size_t i = 0; i < 5; ++i) {
        us_[named(untried_value[i])] = 200;
        found_at(sizes[i], untried_value[i]);
    }
    tuner_->begin_transfer();
    perform_all();
    EXPECT_THAT(tasks_, UnorderedElementsAre("try " + named(untried_value[1]), "try " + named(untried_value[2]),
                                             "try " + named(untried_value[3]), "try " + named(untried_value[4])));
}

TEST_F(CrossSizeTransfer, ASlowTemplateGetsNone) {
    fake_.add_copy("slow");
    ASSERT_EQ(request_.templates.size(), 2U);
    for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) us_["slow WORK=" + std::to_string(value)] = 300;
    plan_and_search();
    for (const auto& kernel : request_.templates) {
        for (const auto value : {64, 48, 32, 24}) found_at(transpose(20 + value), {{{"WORK", value}}}, kernel);
    }
    tuner_->begin_transfer();
    perform_all();
    for (const auto& task : tasks_) EXPECT_EQ(task.find("try slow"), std::string::npos) << task;
}

TEST_F(CrossSizeTransfer, ALimitOfEvaluationsLeavesNoRoomForOne) {
    request_.evaluations = 2;
    plan_and_search();
    ASSERT_EQ(tuner_->result().evaluations, 2U);
    found_at(32, untried().at(0));
    tuner_->begin_transfer();
    EXPECT_TRUE(tuner_->is_done());
}

TEST_F(CrossSizeTransfer, ASpentBudgetEndsItWithFinals) {
    plan_and_search();
    const auto untried_value = untried();
    us_[named(untried_value[0])] = 50;
    found_at(20, untried_value[0]);
    found_at(32, untried_value[1]);
    tuner_->begin_transfer();
    const auto task = tuner_->next();
    ASSERT_TRUE(task);
    perform(*task);
    tuner_->end_search("budget");
    perform_all();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_EQ(tuner_->result().ended, "gain unlikely") << "as its own search did";
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(untried_value[0]));
    EXPECT_THAT(tasks_, ::testing::Not(::testing::Contains("try " + named(untried_value[1]))));
}

TEST_F(CrossSizeTransfer, NoMoreIsCompiledAtOnceThanASearchWould) {
    plan_and_search();
    const auto untried_value = untried();
    for (std::size_t i = 0; i < 4; ++i) found_at(20 + static_cast<std::int64_t>(i), untried_value.at(i));
    tuner_->begin_transfer();
    ASSERT_TRUE(tuner_->next(2));
    ASSERT_TRUE(tuner_->next(2)) << "a second one, while the first is tried";
    const auto asked_for = std::ranges::count_if(untried_value, [&](std::int64_t value) {
        return fake_.pool.was_asked_for(
            program_of(request_.templates.front(), {{{"WORK", value}}}, request_.problems.front()));
    });
    EXPECT_EQ(asked_for, 2);
}

TEST_F(CrossSizeTransfer, WithoutAStoredWinnerTheBestIsTheLeastCost) {
    request_.objective = Objective::energy;
    us_[named(64)] = 90;
    uj_[named(64)] = 300;
    start();
    for (int i = 0; i < 2; ++i) perform(tuner_->next().value());
    tuner_->stop("interrupted");
    ASSERT_EQ(tasks_.front(), "try " + named(64));
    EXPECT_EQ("try work " + to_text(tuner_->result().best->configuration), tasks_.back());
}

TEST_F(CrossSizeTransfer, AnInterruptLeavesTheWinner) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto untried_value = untried().at(0);
    us_[named(untried_value)] = 50;
    found_at(32, untried_value);
    tuner_->begin_transfer();
    const auto trial = tuner_->next();
    ASSERT_TRUE(trial);
    perform(*trial);
    auto final = tuner_->next();
    ASSERT_TRUE(soon([&] { return final || (final = tuner_->next()); }));
    tuner_->stop("interrupted");
    perform(*final);
    EXPECT_FALSE(tuner_->next());
    EXPECT_EQ(tuner_->result().best->configuration, before.best->configuration);
}

TEST_F(CrossSizeTransfer, ALostWorkersTrialIsRepeatedByAnother) {
    plan_and_search();
    const auto untried_value = untried().at(0);
    us_[named(untried_value)] = 50;
    found_at(32, untried_value);
    tuner_->begin_transfer();
    auto trial = tuner_->next(2);
    ASSERT_TRUE(trial);
    EXPECT_FALSE(tuner_->next(2)) << "what follows depends on it";
    tuner_->give_back(std::move(*trial));
    perform_all();
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(untried_value));
}

TEST_F(CrossSizeTransfer, TheNextRunMeasuresNothing) {
    plan_and_search();
    const auto untried_value = untried().at(0);
    us_[named(untried_value)] = 50;
    found_at(32, untried_value);
    tuner_->begin_transfer();
    perform_all();
    const auto winners = winners_in(database());
    fake_.store.finish_run(fake_.run->run_row, "complete");
    tuner_ = std::make_unique<ProblemTuner>(*fake_.run, request_.problems.front(), fake_.spaces.front());
    tasks_.clear();
    perform_all();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_THAT(tasks_, IsEmpty()) << "its search has ended, whatever came from elsewhere after that";
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(untried_value));
    EXPECT_EQ(winners_in(database()), winners);
}

// A transferred configuration is first tried with the default values of its run-time parameters, as in a search.
TEST_F(CrossSizeTransfer, TheRunTimeArgumentsOfATransferredOneAreSwept) {
    request_.templates = load_templates(read_sources(fixture("grouped")));
    request_.problems = {{.operation = "grouping", .type = "f32", .layout = "", .extents = {{"N", 16}}}};
    const auto grouped = [](int backwards, int group, int threads) {
        return Configuration{{{"BACKWARDS", backwards}, {"GROUP", group}, {"THREADS", threads}}};
    };
    request_.evaluations = 1;  // tries only the default configuration
    plan_and_search();
    request_.evaluations.reset();
    auto other = request_.problems.front();
    other.extents = {{"N", 32}};
    found_at(other, grouped(0, 8, 64), request_.templates.front());
    us_["grouped " + to_text(grouped(0, 4, 64))] = 90;
    us_["grouped " + to_text(grouped(0, 8, 64))] = 80;
    tuner_->begin_transfer();
    perform_all();
    EXPECT_EQ(tasks_.front(), "try grouped " + to_text(grouped(0, 4, 64)));
    const std::set<std::string> tried(tasks_.begin(), tasks_.end());
    for (const auto& swept : {grouped(0, 2, 64), grouped(1, 2, 64), grouped(0, 8, 64)}) {
        EXPECT_TRUE(tried.contains("try grouped " + to_text(swept))) << to_text(swept);
    }
    EXPECT_EQ(tuner_->result().best->configuration, grouped(0, 8, 64));
    EXPECT_EQ(tuner_->result().evaluations, 5U);
}

// The finals take eight trials: the winner, although it is the slowest, and seven of the eight transferred trials.
TEST(CrossSizeStage, ChoosesTheWinnerAndSevenTransferredTrials) {
    FakeRun fake;
    const auto& run = fake.start();
    const auto searches = fake.searches();
    TrialLedger ledger(run, fake.problem(), fake.identity());
    const auto add = [&](std::int64_t value, double us) {
        return &ledger.add(*searches.front(), {.key = searches.front()->key(),
                                               .configuration = work(value),
                                               .outcome = steady(us),
                                               .run = run.run_row,
                                               .verified_by = fake.identity()});
    };
    const auto* winner = add(64, 101);
    ledger.begin_transfer();
    for (const auto value : {48, 32, 24, 16, 12, 1, 8, 4}) add(value, 100);
    const CrossSizeStage stage(run, fake.problem(), searches, ledger);
    const auto finalists = stage.choose_finalists(winner);
    EXPECT_EQ(finalists.size(), 8U);
    EXPECT_EQ(finalists.back(), winner);
}

}  // namespace
}  // namespace smemtune
