#include "tuner/problem/trial_ledger.h"

#include <gmock/gmock.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;

class TrialLedgerTest : public ::testing::Test {
protected:
    TrialLedger& ledger(Objective objective = Objective::time) {
        fake_.request.objective = objective;
        (void)fake_.start();
        searches_ = fake_.searches();
        return ledger_.emplace(*fake_.run, fake_.problem(), "operation/testbed");
    }
    [[nodiscard]] TemplateSearch& search() { return *searches_.front(); }
    [[nodiscard]] TrialRecord record(std::int64_t value, Outcome outcome) {
        return {.key = search().key(),
                .configuration = work(value),
                .outcome = std::move(outcome),
                .run = 1,
                .verified_by = "operation/testbed"};
    }
    void store(std::int64_t value, Outcome outcome) { fake_.store.remember(record(value, std::move(outcome))); }
    static Measurement cut_short(double us) {
        auto measurement = steady(us);
        measurement.cut_short = true;
        return measurement;
    }
    static std::vector<std::int64_t> values(const auto& trials) {
        std::vector<std::int64_t> values;
        for (const auto* trial : trials) values.push_back(trial->record.configuration.values.at("WORK"));
        return values;
    }

    FakeRun fake_;
    TemplateSearches searches_;
    std::optional<TrialLedger> ledger_;
};

TEST_F(TrialLedgerTest, StoresCountsAndRanksWhatIsAdded) {
    auto& ledger = this->ledger();
    EXPECT_FALSE(ledger.best_us());
    ledger.add(search(), record(64, steady(200)));
    ledger.add(search(), record(48, steady(100)));
    ledger.add(search(), record(32, Rejection{Stage::wrong, "wrong"}));
    EXPECT_EQ(ledger.best_us(), 100);
    EXPECT_EQ(ledger.added(), 3U);
    EXPECT_THAT(values(ledger.by_cost()), ElementsAre(48, 64));
    EXPECT_EQ(fake_.report.measured, 2U);
    EXPECT_EQ(fake_.report.rejected.at(Stage::wrong), 1U);
    EXPECT_EQ(fake_.report.reasons.at("work wrong: wrong"), 1U);
    EXPECT_EQ(fake_.store.trials(search().key()).size(), 3U);
    EXPECT_EQ(search().untried().size(), 6U) << "the search was told";
}

// A trial that was cut short is ruled out only if a complete measurement of another configuration is clearly faster.
TEST_F(TrialLedgerTest, RecallsCutShortTrialsOnlyWhenTheyAreRuledOut) {
    auto& ledger = this->ledger();
    store(64, cut_short(110));
    store(48, cut_short(121));
    EXPECT_FALSE(ledger.recall(search(), work(48))) << "nothing complete is known";
    store(32, steady(100));
    ledger.load(searches_);
    ledger.release();
    EXPECT_THAT(values(ledger.by_time()), ElementsAre(32, 48));
    EXPECT_FALSE(ledger.recall(search(), work(64)));
    EXPECT_EQ(fake_.report.recalled, 2U);
    EXPECT_EQ(ledger.added(), 0U);
    EXPECT_EQ(ledger.last_run(), 1);
}

TEST_F(TrialLedgerTest, AStoredTrialWithoutEnergyDoesNotAnswerForEnergy) {
    auto& ledger = this->ledger(Objective::energy);
    store(64, steady(100));
    store(48, steady(100, 7));
    EXPECT_FALSE(ledger.recall(search(), work(64)));
    EXPECT_TRUE(ledger.recall(search(), work(48)));
    EXPECT_EQ(ledger.best_cost(), 7);
}

TEST_F(TrialLedgerTest, AnUnknownEnergyIsProportionalToTime) {
    auto& ledger = this->ledger(Objective::energy);
    EXPECT_FALSE(ledger.cost_of(steady(100))) << "nothing to compare it with";
    ledger.add(search(), record(64, steady(100, 30)));
    EXPECT_DOUBLE_EQ(ledger.cost_of(steady(200)).value(), 60);
    EXPECT_DOUBLE_EQ(ledger.cost_of(steady(50)).value(), 30) << "never below the best";
}

TEST_F(TrialLedgerTest, EqualCodeIsEqualInEveryPartOfItsLaunch) {
    auto& ledger = this->ledger();
    TrialInput input{.binary = {.code = {1, 2}}, .launch = {}};
    input.launch.block = {32, 1, 1};
    const auto& trial = ledger.add(search(), record(64, steady(100)));
    ledger.index_code(input, trial);
    EXPECT_EQ(ledger.equal_code(input), &trial);
    auto other_block = input;
    other_block.launch.block = {64, 1, 1};
    EXPECT_EQ(ledger.equal_code(other_block), nullptr);
    auto other_grid = input;
    other_grid.launch.grid = {2, 1, 1};
    EXPECT_EQ(ledger.equal_code(other_grid), nullptr);
    auto other_shared_memory = input;
    other_shared_memory.launch.dynamic_shared_bytes = 1024;
    EXPECT_EQ(ledger.equal_code(other_shared_memory), nullptr);
    auto other_workspace = input;
    other_workspace.launch.workspace = {1024, 0};
    EXPECT_EQ(ledger.equal_code(other_workspace), nullptr);
    auto other_argument = input;
    other_argument.launch.runtime_arguments = {2};
    EXPECT_EQ(ledger.equal_code(other_argument), nullptr);
    auto other_parameters = input;
    other_parameters.parameters = work(2);
    EXPECT_EQ(ledger.equal_code(other_parameters), nullptr) << "the operation's shapes may depend on them";
    auto other_code = input;
    other_code.binary.code = {1, 3};
    EXPECT_EQ(ledger.equal_code(other_code), nullptr);
}

TEST_F(TrialLedgerTest, TheBestOfATemplateIsTheFastestThatWasVerifiedOfItsOwn) {
    fake_.add_copy("copy");
    auto& ledger = this->ledger();
    auto& other = *searches_.back();
    ASSERT_NE(&other, &search());
    EXPECT_FALSE(ledger.verified_best_us(search()));
    for (const auto& [value, us] : {std::pair{64, 200.0}, {48, 100}}) ledger.add(search(), record(value, steady(us)));
    auto unverified = record(32, steady(50));
    unverified.verified_by.clear();
    ledger.add(search(), unverified);
    auto of_other = record(64, steady(20));
    of_other.key = other.key();
    ledger.add(other, of_other);
    EXPECT_EQ(ledger.verified_best_us(search()), 100);
    EXPECT_EQ(ledger.verified_best_us(other), 20);
}

TEST_F(TrialLedgerTest, AReplacedOutcomeIsStored) {
    auto& ledger = this->ledger();
    ledger.add(search(), record(64, steady(200)));
    ledger.replace(*ledger.by_cost().front(), record(64, steady(190)));
    const auto stored = fake_.store.recall(search().key(), work(64));
    ASSERT_TRUE(stored);
    EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 190);
    EXPECT_EQ(stored->run, fake_.run->run_row);
}

// Tests stored trials whose verification identity is not "operation/testbed", the identity of the run.
class ForeignTrials : public TrialLedgerTest {
protected:
    void store_foreign(std::int64_t value, Outcome outcome, const std::string& verified_by = "before/testbed") {
        auto trial = record(value, std::move(outcome));
        trial.verified_by = verified_by;
        trial.code_hash = "code";
        fake_.store.remember(trial);
    }
    // Returns the values of WORK whose trials must be verified again before the search.
    std::vector<std::int64_t> to_verify(TrialLedger& ledger) {
        std::vector<std::int64_t> values;
        while (const auto next = ledger.next_unverified()) values.push_back(next->configuration.values.at("WORK"));
        return values;
    }
};

TEST_F(ForeignTrials, ThoseThatMayBeTheFastestAreVerifiedAgainAndTheOthersInformTheSearch) {
    auto& ledger = this->ledger();
    store(64, steady(100));
    store_foreign(48, steady(104));
    store_foreign(32, steady(99.5));
    store_foreign(24, steady(106), std::string(unrecorded));
    ledger.load(searches_);
    EXPECT_THAT(to_verify(ledger), ElementsAre(32, 48)) << "up to 5 % behind the best that counts";
    EXPECT_TRUE(ledger.has_foreign_trials());
    ledger.release();
    EXPECT_THAT(values(ledger.by_cost()), ElementsAre(64, 24));
    EXPECT_THAT(values(ledger.verified_by_cost()), ElementsAre(64)) << "only this one may win";
    EXPECT_EQ(ledger.best_us(), 100);
    EXPECT_FALSE(ledger.recall(search(), work(32))) << "it must be tried";
}

TEST_F(ForeignTrials, WhatWasNeverVerifiedIsTriedWhereItMayBeTheFastest) {
    auto& ledger = this->ledger();
    store_foreign(64, steady(100), "");
    store_foreign(48, steady(106), "");
    ledger.load(searches_);
    EXPECT_FALSE(ledger.has_foreign_trials()) << "it was verified against nothing else, so the search may stay ended";
    EXPECT_THAT(to_verify(ledger), ElementsAre(64));
    EXPECT_FALSE(ledger.recall(search(), work(64))) << "it must be tried";
    ledger.release();
    EXPECT_TRUE(ledger.recall(search(), work(48))) << "its time is all that is needed";
}

TEST_F(ForeignTrials, WhatMayBeWrongSetsNoStandard) {
    auto& ledger = this->ledger();
    store_foreign(64, steady(10));
    store(48, cut_short(100));
    ledger.load(searches_);
    EXPECT_FALSE(ledger.best_us()) << "a wrong kernel may be fast";
    ledger.release();
    EXPECT_FALSE(ledger.best_us());
    EXPECT_FALSE(ledger.best_cost());
    EXPECT_TRUE(ledger.verified_by_cost().empty());
    EXPECT_THAT(values(ledger.by_cost()), ElementsAre(64)) << "the one that was cut short is not ruled out";
}

TEST_F(ForeignTrials, TheNextOneIsVerifiedOnceAFasterOneIsKnownToBeWrong) {
    auto& ledger = this->ledger();
    store_foreign(64, steady(100));
    store_foreign(48, steady(200));
    ledger.load(searches_);
    EXPECT_THAT(to_verify(ledger), ElementsAre(64));
    ledger.add(search(), record(64, Rejection{Stage::wrong, "wrong"}));
    EXPECT_THAT(to_verify(ledger), ElementsAre(48));
}

TEST_F(ForeignTrials, ASlowOneIsNotVerifiedOnceAFasterOneIsKnownToBeRight) {
    auto& ledger = this->ledger();
    store_foreign(64, steady(100));
    store_foreign(48, steady(200));
    ledger.load(searches_);
    EXPECT_THAT(to_verify(ledger), ElementsAre(64));
    ledger.add(search(), record(64, steady(100)));
    EXPECT_THAT(to_verify(ledger), ElementsAre());
}

TEST_F(ForeignTrials, AtMostEightThatAreRightAreVerified) {
    auto& ledger = this->ledger();
    for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) store_foreign(value, steady(100));
    ledger.load(searches_);
    EXPECT_EQ(to_verify(ledger).size(), 8U);
    ledger.add(search(), record(64, Rejection{Stage::wrong, "wrong"}));
    EXPECT_EQ(to_verify(ledger).size(), 1U) << "in place of the wrong one";
}

TEST_F(ForeignTrials, ATrialIsNotTimedAgainOnlyWithTheSameMachineCode) {
    auto& ledger = this->ledger();
    store_foreign(64, steady(100));
    store_foreign(48, cut_short(100));
    EXPECT_TRUE(ledger.timed_before(search(), work(64), "code"));
    EXPECT_FALSE(ledger.timed_before(search(), work(64), "other code"));
    EXPECT_FALSE(ledger.timed_before(search(), work(48), "code")) << "its time is not complete";
    store(64, steady(100));
    EXPECT_FALSE(ledger.timed_before(search(), work(64), "")) << "it counts already";
}

TEST_F(ForeignTrials, RejectionsByOtherChecksOrAnotherCompilerDoNotCount) {
    auto& ledger = this->ledger();
    store_foreign(64, Rejection{Stage::wrong, "wrong"});
    store_foreign(48, Rejection{Stage::compile, "line 1"});
    store_foreign(32, Rejection{Stage::limits, "too large"});
    store_foreign(24, Rejection{Stage::launch, "refused"});
    store_foreign(16, Rejection{Stage::wrong, "of an earlier version"}, "");
    store(12, Rejection{Stage::wrong, "wrong"});
    ledger.load(searches_);
    ledger.release();
    std::vector<std::int64_t> known;
    for (const auto& trial : ledger.trials()) known.push_back(trial.record.configuration.values.at("WORK"));
    EXPECT_THAT(known, ElementsAre(32, 24, 16, 12));
    EXPECT_FALSE(ledger.recall(search(), work(64)));
    EXPECT_TRUE(ledger.recall(search(), work(12)));
}

TEST_F(ForeignTrials, AWinnerOfAnotherOperationDoesNotStand) {
    auto& ledger = this->ledger();
    auto stored = record(64, steady(100));
    for (const auto& [verified_by, stands] :
         {std::pair{"operation/testbed", true}, {"operation/another compiler", true}, {"before/testbed", false}}) {
        stored.verified_by = verified_by;
        EXPECT_EQ(ledger.may_stand(stored), stands) << verified_by;
    }
    stored.verified_by = unrecorded;
    EXPECT_TRUE(ledger.may_stand(stored));
}

// An earlier run stored the trials. The ledger belongs to a later run.
class RetryTest : public TrialLedgerTest {
protected:
    void store_failure(std::int64_t value, Stage stage, std::int64_t attempts, const std::string& toolchain) {
        auto trial = record(value, Rejection{stage, "because"});
        trial.attempts = attempts;
        trial.toolchain = toolchain;
        trial.run = earlier_;
        fake_.store.remember(trial);
    }
    TrialLedger& later_ledger() {
        earlier_ = fake_.store.start_run({});
        return ledger();
    }
    std::int64_t earlier_ = 0;
};

TEST_F(RetryTest, CrashesAndTimeoutsAreTriedOnceMoreAndAgainWithAnotherToolchain) {
    auto& ledger = later_ledger();
    store_failure(64, Stage::timeout, 1, "fake 1");
    store_failure(48, Stage::timeout, 2, "fake 1");
    store_failure(32, Stage::crash, 2, "fake 0");
    store_failure(24, Stage::wrong, 1, "fake 0");
    ledger.load(searches_);
    std::vector<std::int64_t> retried;
    while (const auto next = ledger.next_unverified()) retried.push_back(next->configuration.values.at("WORK"));
    EXPECT_THAT(retried, ElementsAre(64, 32));
    EXPECT_EQ(fake_.report.retried, 2U);
    ledger.release();
    EXPECT_EQ(ledger.trials().size(), 2U) << "48 and 24 stay rejected";
}

TEST_F(RetryTest, AtMostEightAreTriedAgainInOneRun) {
    auto& ledger = later_ledger();
    for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) store_failure(value, Stage::timeout, 1, "fake 1");
    ledger.load(searches_);
    std::size_t retried = 0;
    while (ledger.next_unverified()) ++retried;
    EXPECT_EQ(retried, 8U) << "a timeout costs its whole deadline";
}

TEST_F(RetryTest, AttemptsAreCountedForEachToolchain) {
    auto& ledger = later_ledger();
    store_failure(64, Stage::timeout, 1, "fake 1");
    store_failure(32, Stage::crash, 2, "fake 0");
    for (const auto value : {64, 32, 16}) {
        auto again = record(value, Rejection{Stage::timeout, "again"});
        again.toolchain = "fake 1";
        again.run = fake_.run->run_row;
        ledger.add(search(), again);
    }
    EXPECT_EQ(fake_.store.recall(search().key(), work(64))->attempts, 2);
    EXPECT_EQ(fake_.store.recall(search().key(), work(32))->attempts, 1);
    EXPECT_EQ(fake_.store.recall(search().key(), work(16))->attempts, 1);
    EXPECT_TRUE(ledger.recall(search(), work(32))) << "not again in the same run";
}

}  // namespace
}  // namespace smemtune
