#include "tuner/finals/finals_scheduler.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

// Returns finals with one finalist. After its verification, the finalist is compared with a baseline.
FinalsScheduler sole_finalist(double launch_us, std::vector<Measurement> known = {}) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    return {{entrant, entrant}, 1, std::size_t{1}, {.launch_us = launch_us, .known = std::move(known)}};
}

// Expects that the next task is the verification of `entrant`, and finishes it with `outcome`.
void verify(FinalsScheduler& finals, std::size_t entrant, const Outcome& outcome = Measurement{.median_us = 1}) {
    const auto task = finals.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->purpose, FinalTask::Purpose::verify);
    ASSERT_EQ(task->entrants, (std::vector{entrant}));
    finals.finish(*task, std::vector{outcome});
}

TEST(FinalsScheduler, ComparesTheWinnerWithTheBaselineInSeveralRounds) {
    auto finals = sole_finalist(100);
    verify(finals, 0);
    const auto task = finals.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->purpose, FinalTask::Purpose::compare);
    EXPECT_EQ(task->entrants, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(task->rounds, 3);
    EXPECT_FALSE(finals.next());
    finals.finish(*task, std::vector<Outcome>{Measurement{.median_us = 100, .samples_us = {100, 101, 99}},
                                              Measurement{.median_us = 400, .samples_us = {400, 399, 401}}});
    ASSERT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0);
    EXPECT_EQ(std::get<Measurement>(finals.outcomes().at(1)).median_us, 400);
}

TEST(FinalsScheduler, ABaselineThatWinsIsComparedWithNothing) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant}, 1, std::size_t{0}, {.launch_us = 100});
    verify(finals, 0);
    EXPECT_FALSE(finals.next());
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0);
}

TEST(FinalsScheduler, ComparesLaunchesThatLastLongOnce) {
    for (const auto& [launch_us, rounds] : {std::pair{10'000.0, 3}, {10'001, 1}, {43'000, 1}}) {
        auto finals = sole_finalist(launch_us);
        verify(finals, 0);
        const auto task = finals.next();
        ASSERT_TRUE(task);
        EXPECT_EQ(task->rounds, rounds) << launch_us;
    }
}

// A single sample of the finals replaces several samples of the search only if the search cut its measurement short.
TEST(FinalsScheduler, ASingleSampleReplacesNoneOfMore) {
    const Measurement searched{.median_us = 43'000, .spread_us = 20, .samples_us = {43'000, 42'990, 43'020}};
    auto cut = searched;
    cut.cut_short = true;
    auto finals = sole_finalist(43'000, {searched, cut});
    verify(finals, 0);
    const auto task = finals.next();
    ASSERT_TRUE(task);
    const Measurement once{.median_us = 44'000, .samples_us = {44'000}, .energy_uj = 7};
    finals.finish(*task, std::vector<Outcome>{once, once});
    auto expected = searched;
    expected.energy_uj = 7;
    EXPECT_EQ(std::get<Measurement>(finals.outcomes().at(0)), expected) << "but for what was unknown";
    EXPECT_EQ(std::get<Measurement>(finals.outcomes().at(1)), once);
}

TEST(FinalsScheduler, AsManySamplesReplaceThoseOfTheSearch) {
    const Measurement searched{.median_us = 100, .spread_us = 1, .samples_us = {100, 101, 99}};
    auto finals = sole_finalist(100, {searched, searched});
    verify(finals, 0);
    const auto task = finals.next();
    ASSERT_TRUE(task);
    finals.finish(*task, std::vector<Outcome>{Measurement{.median_us = 90, .samples_us = {90, 91, 89}},
                                              Measurement{.median_us = 400, .samples_us = {400, 399, 401}}});
    EXPECT_EQ(std::get<Measurement>(finals.outcomes().at(0)).median_us, 90);
    EXPECT_EQ(std::get<Measurement>(finals.outcomes().at(1)).median_us, 400);
}

TEST(FinalsScheduler, EnergyThatIsNotCountedAnewStays) {
    const Measurement searched{.median_us = 100, .spread_us = 1, .samples_us = {100, 101, 99}, .energy_uj = 30};
    auto finals = sole_finalist(100, {searched, searched});
    verify(finals, 0);
    const auto task = finals.next();
    ASSERT_TRUE(task);
    const Measurement anew{.median_us = 90, .samples_us = {90, 91, 89}};
    finals.finish(*task, std::vector<Outcome>{anew, anew});
    const auto& outcome = std::get<Measurement>(finals.outcomes().at(0));
    EXPECT_EQ(outcome.median_us, 90);
    EXPECT_EQ(outcome.energy_uj, 30);
}

TEST(FinalsScheduler, TheWinnersEnergyStaysWhenItIsComparedWithTheBaseline) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 1, std::size_t{1}, {.launch_us = 100, .energy = true});
    verify(finals, 0);
    const auto energy = finals.next();
    ASSERT_TRUE(energy);
    ASSERT_EQ(energy->purpose, FinalTask::Purpose::energy);
    finals.finish(*energy, std::vector<Outcome>{Measurement{.median_us = 100, .samples_us = {100}, .energy_uj = 30}});
    const auto compare = finals.next();
    ASSERT_TRUE(compare);
    ASSERT_EQ(compare->purpose, FinalTask::Purpose::compare);
    const Measurement later{.median_us = 90, .samples_us = {90, 91, 89}, .clock_khz = 1'980'000};
    finals.finish(*compare, std::vector<Outcome>{later, later});
    const auto& winner = std::get<Measurement>(finals.outcomes().at(0));
    EXPECT_EQ(winner.energy_uj, 30);
    EXPECT_EQ(winner.samples_us.size(), 4U) << "of both tasks";
    EXPECT_EQ(winner.clock_khz, 1'980'000);
}

TEST(FinalsScheduler, ManyWorkersShareARoundByTwoSamplesOrMore) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 2, std::nullopt, {.workers = 8});
    std::vector<int> rounds;
    while (const auto task = finals.next()) rounds.push_back(task->rounds);
    EXPECT_EQ(rounds, (std::vector{2, 2, 2}));
}

// Performs finals of equally fast finalists, one for each of `launches`. Returns the index of the winner.
std::size_t winner_of_equals(const std::vector<Launch>& launches) {
    FakeRun fake;
    (void)fake.start();
    const auto searches = fake.searches();
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const auto code = compiled.get_future().share();
    std::vector<Proposal> entrants;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        entrants.push_back({searches.front().get(), work(static_cast<std::int64_t>(i)), code});
    }
    const auto launch = [&](const Proposal& each) {
        return launches.at(static_cast<std::size_t>(each.configuration.values.at("WORK")));
    };
    FinalsScheduler finals(entrants, entrants.size(), std::nullopt, {.launch = launch});
    while (const auto task = finals.next()) {
        finals.finish(*task, std::vector<Outcome>(task->entrants.size(), steady(100)));
    }
    return finals.winner().value();
}

TEST(FinalsScheduler, OfEqualsTheOneWithTheLeastSharedMemoryWinsThenTheOneWithTheFewestThreads) {
    const Launch few{.block = {64, 1, 1}};
    const Launch many{.block = {128, 1, 1}};
    const Launch sharing{.block = {32, 1, 1}, .dynamic_shared_bytes = 1024};
    EXPECT_EQ(winner_of_equals({many, few}), 1U);
    EXPECT_EQ(winner_of_equals({few, many}), 0U);
    EXPECT_EQ(winner_of_equals({sharing, many}), 1U);
    EXPECT_EQ(winner_of_equals({few, few}), 0U) << "the order of the configurations' texts";
}

// The energy counter failed for the second finalist. This finalist's energy is unknown, not 0.
TEST(FinalsScheduler, AnEnergyThatWasNotCountedDecidesNothing) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 2, std::nullopt, {.objective = Objective::energy});
    const auto task = finals.next();
    ASSERT_TRUE(task);
    ASSERT_EQ(task->purpose, FinalTask::Purpose::decide);
    const Measurement counted{.median_us = 100, .samples_us = {100}, .energy_uj = 30};
    const Measurement not_counted{.median_us = 100, .samples_us = {100}};
    finals.finish(*task, std::vector<Outcome>{counted, not_counted});
    verify(finals, 0);
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0) << "by the earlier measurements";
}

// The first finalist is the fastest, and needs the most energy.
TEST(FinalsScheduler, TheLeastEnergyWinsIfThatIsTheObjective) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant, entrant, entrant}, 3, std::size_t{3},
                           {.objective = Objective::energy, .workers = 4, .energy = true});
    const Rejection wrong{Stage::wrong, "C[0,0] is nan"};
    int tasks = 0;
    auto task = finals.next();
    for (; task && task->purpose == FinalTask::Purpose::decide; task = finals.next()) {
        ++tasks;
        EXPECT_EQ(task->rounds, 1);
        EXPECT_FALSE(finals.next()) << "the devices do not share a measurement of energy";
        finals.finish(*task, std::vector<Outcome>{Measurement{.samples_us = {100}, .energy_uj = 40},
                                                  Measurement{.samples_us = {200}, .energy_uj = 30},
                                                  Measurement{.samples_us = {150}, .energy_uj = 35}});
    }
    EXPECT_EQ(tasks, 1);
    ASSERT_TRUE(task);
    EXPECT_EQ(task->entrants, (std::vector<std::size_t>{1}));
    finals.finish(*task, std::vector<Outcome>{wrong});
    verify(finals, 2);
    const auto energy = finals.next();
    ASSERT_TRUE(energy);
    EXPECT_EQ(energy->purpose, FinalTask::Purpose::energy);
    EXPECT_EQ(energy->entrants, (std::vector<std::size_t>{2}));
    const auto compare = finals.next();
    ASSERT_TRUE(compare);
    EXPECT_EQ(compare->purpose, FinalTask::Purpose::compare);
    EXPECT_EQ(finals.winner(), 2);
}

// Finalists 1, 2 and 3 are equally fast. The program of finalist 1 does not compile any more, and the finalists 2 and 3
// are wrong. The slower finalist 0 then wins.
TEST(FinalsScheduler, TheNextOfTheEqualsIsVerifiedBeforeAnyOther) {
    FakeRun fake;
    (void)fake.start();
    const auto searches = fake.searches();
    std::vector<Proposal> entrants;
    for (std::int64_t i = 0; i < 4; ++i) {
        std::promise<CompilePool::Result> compiled;
        if (i == 1) {
            compiled.set_value(Rejection{Stage::compile, "line 1: wrong"});
        } else {
            compiled.set_value(Binary{});
        }
        entrants.push_back({searches.front().get(), work(i), compiled.get_future().share()});
    }
    FinalsScheduler finals(entrants, 4, std::nullopt, {.launch = [](const Proposal&) { return Launch{}; }});
    const auto task = finals.next();
    ASSERT_TRUE(task);
    std::vector<Outcome> outcomes;
    for (const auto us : {150.0, 100.0, 100.0, 100.0}) outcomes.emplace_back(steady(us));
    finals.finish(*task, outcomes);
    verify(finals, 2, Rejection{Stage::wrong, "C[0,0] is nan"});
    EXPECT_EQ(finals.outcomes().at(1), Outcome(Rejection{Stage::compile, "line 1: wrong"}));
    verify(finals, 3, Rejection{Stage::wrong, "C[0,0] is nan"});
    verify(finals, 0);
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0);
}

TEST(FinalsScheduler, WhatArrivesAfterTheEndChangesNothing) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 1, std::size_t{1}, {.launch_us = 100, .energy = true});
    const auto verification = finals.next();
    ASSERT_TRUE(verification);
    finals.finish(*verification, std::nullopt);
    ASSERT_TRUE(finals.is_over());
    EXPECT_TRUE(finals.was_interrupted());
    EXPECT_FALSE(finals.next());
    finals.finish(*verification, std::vector<Outcome>{steady(100)});
    EXPECT_EQ(finals.winner(), std::nullopt);
    EXPECT_TRUE(finals.verified().empty());
}

// Two workers measure three of the six rounds each.
TEST(FinalsScheduler, ARoundEndsWhenTheLastOfItsSharesIsFinished) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 2, std::nullopt, {.workers = 2});
    const auto first = finals.next();
    const auto second = finals.next();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->rounds, 3);
    EXPECT_FALSE(finals.next());
    const std::vector<Outcome> outcomes{Measurement{.median_us = 100, .samples_us = {100, 100, 100}},
                                        Measurement{.median_us = 200, .samples_us = {200, 200, 200}}};
    finals.finish(*first, outcomes);
    EXPECT_FALSE(finals.is_over()) << "three rounds of six";
    EXPECT_FALSE(finals.next());
    finals.finish(*second, outcomes);
    verify(finals, 0);
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0);
}

// A share is the part of the rounds that one worker measures. If a worker gives its share back, another worker measures
// it. If a worker is lost during its share, the finals decide by earlier measurements.
TEST(FinalsScheduler, ALostShareLeavesTheDecisionToEarlierMeasurements) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 2, std::nullopt, {.workers = 2});
    auto first = finals.next();
    const auto second = finals.next();
    ASSERT_TRUE(first && second);
    finals.give_back(std::move(*first));
    const auto again = finals.next();
    ASSERT_TRUE(again);
    finals.finish(*second, std::nullopt);
    EXPECT_FALSE(finals.is_over());
    finals.finish(*again, std::vector<Outcome>{Measurement{.median_us = 200, .samples_us = {200, 200, 200}},
                                               Measurement{.median_us = 100, .samples_us = {100, 100, 100}}});
    verify(finals, 0);
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 0) << "the first: the search found it faster";
}

TEST(FinalsScheduler, ARejectedFinalistCannotWin) {
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{});
    const Proposal entrant{.compiled = compiled.get_future().share()};
    FinalsScheduler finals({entrant, entrant}, 2, std::nullopt, {});
    const auto task = finals.next();
    ASSERT_TRUE(task);
    finals.finish(*task, std::vector<Outcome>{Rejection{Stage::launch, "gone"}, Measurement{.samples_us = {100}}});
    verify(finals, 1);
    EXPECT_TRUE(finals.is_over());
    EXPECT_EQ(finals.winner(), 1);
}

// Finals with three finalists. The second finalist is the fastest, the first is the slowest.
class VerifiedFinals : public ::testing::Test {
protected:
    void SetUp() override {
        compiled_.set_value(Binary{});
        const Proposal entrant{.compiled = compiled_.get_future().share()};
        const std::vector<Proposal> entrants(4, entrant);
        finals_.emplace(entrants, 3, std::size_t{3}, FinalsScheduler::Settings{.verify_baseline = true});
        while (finals_->outcomes().size() < 3) {
            const auto task = finals_->next();
            ASSERT_TRUE(task);
            std::vector<Outcome> outcomes;
            for (const auto each : task->entrants) {
                const double us = std::vector{300.0, 100.0, 200.0}.at(each);
                outcomes.emplace_back(Measurement{.median_us = us, .samples_us = std::vector<double>(6, us)});
            }
            finals_->finish(*task, outcomes);
        }
    }

    const Rejection wrong_{Stage::wrong, "C[0,0] is nan"};
    std::promise<CompilePool::Result> compiled_;
    std::optional<FinalsScheduler> finals_;
};

TEST_F(VerifiedFinals, AWrongWinnerIsRejectedAndTheNextFastestIsVerified) {
    verify(*finals_, 1, wrong_);
    EXPECT_FALSE(finals_->is_over());
    EXPECT_EQ(finals_->outcomes().at(1), Outcome(wrong_));
    verify(*finals_, 2, wrong_);
    verify(*finals_, 0);
    EXPECT_EQ(finals_->winner(), 0);
    EXPECT_TRUE(finals_->verified().contains(0));
    EXPECT_FALSE(finals_->verified().contains(1));
}

TEST_F(VerifiedFinals, WhereAllAreWrongNobodyWins) {
    for (const auto each : std::vector<std::size_t>{1, 2, 0}) verify(*finals_, each, wrong_);
    EXPECT_TRUE(finals_->is_over());
    EXPECT_EQ(finals_->winner(), std::nullopt);
}

TEST_F(VerifiedFinals, WithoutItsVerificationThereIsNoWinner) {
    const auto task = finals_->next();
    ASSERT_TRUE(task);
    finals_->finish(*task, std::nullopt);
    EXPECT_TRUE(finals_->is_over());
    EXPECT_EQ(finals_->winner(), std::nullopt);
}

TEST_F(VerifiedFinals, ABaselineThatWasNotVerifiedIsVerifiedBeforeItIsComparedWith) {
    verify(*finals_, 1);
    verify(*finals_, 3);
    const auto task = finals_->next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->purpose, FinalTask::Purpose::compare);
}

TEST_F(VerifiedFinals, AWrongBaselineIsNotComparedWith) {
    verify(*finals_, 1);
    verify(*finals_, 3, wrong_);
    EXPECT_TRUE(finals_->is_over());
    EXPECT_EQ(finals_->winner(), 1);
    EXPECT_EQ(finals_->outcomes().at(3), Outcome(wrong_));
}

}  // namespace
}  // namespace smemtune
