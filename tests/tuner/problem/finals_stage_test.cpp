#include "tuner/problem/finals_stage.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

class FinalsStageTest : public ::testing::Test {
protected:
    void SetUp() override {
        (void)fake_.start();
        searches_ = fake_.searches();
        ledger_.emplace(*fake_.run, fake_.problem(), fake_.identity());
        stage_.emplace(*fake_.run, fake_.problem(), searches_, *ledger_);
    }
    void add(std::int64_t value, double us, double spread_us = 0) {
        auto measurement = steady(us);
        measurement.spread_us = spread_us;
        ledger_->add(*searches_.front(), {.key = searches_.front()->key(),
                                          .configuration = work(value),
                                          .outcome = measurement,
                                          .run = fake_.run->run_row,
                                          .verified_by = fake_.identity(),
                                          .code_hash = code_hash(value)});
    }
    // Returns the hash of the machine code that the fake compiler makes for WORK=`value`.
    [[nodiscard]] std::string code_hash(std::int64_t value) const {
        const auto compiled =
            fake_.compiler.compile(program_of(fake_.request.templates.front(), work(value), fake_.problem()));
        return code_hash_of(std::get<Binary>(compiled));
    }
    // Performs the finals. `us` gives the time for each value of WORK. If `decide` is false, only verifications get a
    // time, and all other tasks lose their worker.
    void measure(const std::map<std::int64_t, double>& us, bool decide = true) {
        stage_->start(stage_->choose_finalists());
        const auto next = [&] {
            EXPECT_TRUE(soon([&] { return !stage_->is_compiling(); }));
            auto task = stage_->next(1);
            return task || stage_->is_over() ? std::move(task) : stage_->next(1);  // no task: new finals began
        };
        while (auto task = next()) {
            std::vector<Outcome> outcomes;
            if (!decide && task->purpose != FinalTask::Purpose::verify) {
                stage_->finish(*task, std::nullopt);
                continue;
            }
            for (const auto& each : task->candidates) {
                if (task->purpose == FinalTask::Purpose::verify &&
                    wrong_.contains(each.configuration.values.at("WORK"))) {
                    outcomes.emplace_back(Rejection{Stage::wrong, "C[0,0] is nan"});
                    continue;
                }
                outcomes.emplace_back(steady(us.at(each.configuration.values.at("WORK"))));
            }
            stage_->finish(*task, outcomes);
        }
        EXPECT_TRUE(stage_->is_over());
    }
    [[nodiscard]] std::int64_t winner() const { return stage_->winner()->record.configuration.values.at("WORK"); }

    std::set<std::int64_t> wrong_;
    FakeRun fake_;
    TemplateSearches searches_;
    std::optional<TrialLedger> ledger_;
    std::optional<FinalsStage> stage_;
};

TEST_F(FinalsStageTest, WithoutMeasurementsThereAreNoFinalists) {
    EXPECT_TRUE(stage_->choose_finalists().empty());
    EXPECT_EQ(stage_->winner(), nullptr);
}

TEST_F(FinalsStageTest, FinalistsAreWithinTwoPercentOfASteadyBestAndFiveOfANoisyOne) {
    for (const auto& [value, us] : {std::pair{64, 100.0}, {48, 101.9}, {32, 104.9}, {24, 105.1}}) add(value, us);
    EXPECT_EQ(stage_->choose_finalists().size(), 2U);
    add(16, 99.99, 2);
    EXPECT_EQ(stage_->choose_finalists().size(), 4U) << "up to 104.99";
}

TEST_F(FinalsStageTest, AtMostEightAreFinalists) {
    for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) add(value, 100);
    EXPECT_EQ(stage_->choose_finalists().size(), 8U);
}

TEST_F(FinalsStageTest, TheFinalsDecideAndStoreTheWinner) {
    add(64, 100);
    add(48, 101);
    EXPECT_EQ(winner(), 64) << "the least cost, as long as there were no finals";
    measure({{64, 102}, {48, 100}});
    EXPECT_EQ(winner(), 48);
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=48");
    EXPECT_EQ(std::get<Measurement>(fake_.store.recall(searches_.front()->key(), work(64))->outcome).median_us, 102);
}

TEST_F(FinalsStageTest, WhatWasNotVerifiedInFullMayBeAFinalistButIsNoWinnerWithoutFinals) {
    const auto add_unverified = [&](std::int64_t value, Measurement measured) {
        ledger_->add(
            *searches_.front(),
            {.key = searches_.front()->key(), .configuration = work(value), .outcome = std::move(measured), .run = 1});
    };
    add_unverified(48, steady(99));
    EXPECT_EQ(stage_->winner(), nullptr) << "nothing is known to be right";
    EXPECT_EQ(stage_->choose_finalists().size(), 1U);
    add(64, 100);
    add_unverified(32, steady(103));
    auto short_one = steady(100);
    short_one.cut_short = true;
    add_unverified(24, short_one);
    ledger_->add(*searches_.front(), {.key = searches_.front()->key(),
                                      .configuration = work(16),
                                      .outcome = steady(98),
                                      .run = 1,
                                      .verified_by = "another/identity"});
    EXPECT_EQ(winner(), 64);
    const auto finalists = stage_->choose_finalists();
    ASSERT_EQ(finalists.size(), 2U) << "one is too slow, one was cut short, one was verified against something else";
    EXPECT_EQ(finalists.front()->record.configuration, work(48));
    EXPECT_EQ(finalists.back()->record.configuration, work(64));
}

TEST_F(FinalsStageTest, AWinnerWhoseMachineCodeIsWrongIsRejectedAndTheNextOneWins) {
    add(64, 100);
    add(48, 101);
    wrong_ = {48};
    measure({{64, 102}, {48, 100}});
    EXPECT_EQ(winner(), 64);
    const auto stored = fake_.store.recall(searches_.front()->key(), work(48));
    EXPECT_EQ(std::get<Rejection>(stored->outcome).stage, Stage::wrong);
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=64");
}

TEST_F(FinalsStageTest, WhenAllFinalistsAreWrongTheNextBestGetTheirTurn) {
    for (const auto& [value, us] : {std::pair{64, 100.0}, {48, 101}, {32, 150}, {24, 151}, {16, 300}}) add(value, us);
    wrong_ = {64, 48, 32};
    measure({{64, 100}, {48, 101}, {32, 150}, {24, 151}});
    EXPECT_EQ(winner(), 24);
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=24");
    EXPECT_EQ(ledger_->best_us(), 151) << "what is wrong sets no standard";
    const auto untouched = fake_.store.recall(searches_.front()->key(), work(16));
    EXPECT_EQ(std::get<Measurement>(untouched->outcome).median_us, 300);
}

// WORK=64 and WORK=48 turn out to be wrong. The trials of 48 and 32 ran only the first check. They were cut short,
// because 64 was much faster.
TEST_F(FinalsStageTest, WhenAllThatWasVerifiedIsWrongTheOthersAreMeasuredAndVerified) {
    add(64, 100);
    for (const auto& [value, us] : {std::pair{48, 900.0}, {32, 1000}}) {
        auto record = ledger_->by_cost().front()->record;
        record.configuration = work(value);
        record.code_hash = code_hash(value);
        record.verified_by.clear();
        record.outcome = Measurement{.median_us = us, .samples_us = {us}, .cut_short = true};
        ledger_->add(*searches_.front(), record);
    }
    wrong_ = {64, 48};
    measure({{64, 100}, {48, 700}, {32, 800}});
    EXPECT_EQ(winner(), 32);
    const auto stored = fake_.store.recall(searches_.front()->key(), work(32));
    EXPECT_TRUE(stored->is_verified());
    EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 800);
}

// For example, the checks have changed, and this run found that all trials that it verified again are wrong.
TEST_F(FinalsStageTest, WhenNoTrialIsVerifiedThoseOfEarlierChecksAre) {
    for (const auto& [value, us] : {std::pair{48, 900.0}, {32, 1000}}) {
        ledger_->add(*searches_.front(), {.key = searches_.front()->key(),
                                          .configuration = work(value),
                                          .outcome = steady(us),
                                          .run = fake_.run->run_row,
                                          .verified_by = "earlier checks",
                                          .code_hash = code_hash(value)});
    }
    wrong_ = {48};
    measure({{48, 700}, {32, 800}});
    EXPECT_EQ(winner(), 32);
}

TEST_F(FinalsStageTest, ASoleFinalistThatWasCutShortIsMeasuredBeforeItWins) {
    for (const bool is_measured : {true, false}) {
        add(64, 100);
        auto record = ledger_->by_cost().front()->record;
        record.configuration = work(32);
        record.code_hash = code_hash(32);
        record.verified_by.clear();
        record.outcome = Measurement{.median_us = 900, .samples_us = {900}, .cut_short = true};
        ledger_->add(*searches_.front(), record);
        wrong_ = {64};
        measure({{64, 100}, {32, 800}}, is_measured);
        EXPECT_EQ(winner(), 32);
        const auto stored = fake_.store.recall(searches_.front()->key(), work(32));
        EXPECT_TRUE(stored->is_verified());
        EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 800);
        ledger_.emplace(*fake_.run, fake_.problem(), fake_.identity());
        stage_.emplace(*fake_.run, fake_.problem(), searches_, *ledger_);
    }
}

TEST_F(FinalsStageTest, WhenEveryTrialIsWrongThereIsNoWinner) {
    for (const auto& [value, us] : {std::pair{64, 100.0}, {48, 150}, {32, 300}}) add(value, us);
    wrong_ = {64, 48, 32};
    measure({{64, 100}, {48, 150}, {32, 300}});
    EXPECT_EQ(stage_->winner(), nullptr);
    EXPECT_TRUE(winners_in(fake_.scratch / "t.db").empty());
    EXPECT_EQ(ledger_->best_us(), std::nullopt);
}

TEST_F(FinalsStageTest, FinalsThatAreInterruptedAreNotFollowedByOthers) {
    for (const auto& [value, us] : {std::pair{64, 100.0}, {48, 150}}) add(value, us);
    stage_->start(stage_->choose_finalists());
    ASSERT_TRUE(soon([&] { return !stage_->is_compiling(); }));
    const auto task = stage_->next(1);
    ASSERT_TRUE(task);
    stage_->finish(*task, std::nullopt);
    EXPECT_TRUE(stage_->is_over());
    EXPECT_FALSE(stage_->next(1));
    EXPECT_FALSE(fake_.store.best(searches_.front()->key().device, searches_.front()->key().problem)->winner);
}

// A later run finds every trial stored and needs only the finals.
class LaterFinals : public FinalsStageTest {
protected:
    void SetUp() override {
        FinalsStageTest::SetUp();
        add(64, 100);
        add(48, 200);
        measure({{64, 100}});
        begin_again();
    }
    void begin_again() {
        searches_ = fake_.searches();
        ledger_.emplace(*fake_.run, fake_.problem(), fake_.identity());
        stage_.emplace(*fake_.run, fake_.problem(), searches_, *ledger_);
        ledger_->load(searches_);
        ledger_->release();
    }
    void execute(const std::string& sql) {
        SQLite::Database(fake_.scratch / "t.db", SQLite::OPEN_READWRITE).exec(sql);
        begin_again();
    }
};

TEST_F(LaterFinals, DecideNothingThatIsDecided) {
    EXPECT_TRUE(stage_->choose_finalists().empty());
    EXPECT_EQ(winner(), 64);
}

TEST_F(LaterFinals, StoreTheWinnersMachineCodeAgainIfItIsDamagedOrGone) {
    for (const auto* harm : {"UPDATE binaries SET code = x'00'", "DELETE FROM binaries"}) {
        execute(harm);
        ASSERT_FALSE(stage_->choose_finalists().empty()) << harm;
        measure({{64, 100}});
        EXPECT_TRUE(fake_.store.damages().empty());
        EXPECT_EQ(fake_.store.summary().binaries, 1);
        begin_again();
        EXPECT_TRUE(stage_->choose_finalists().empty());
    }
}

TEST_F(LaterFinals, ReplaceMachineCodeThatIsNotWhatTheWinnerWasVerifiedWith) {
    execute("UPDATE trials SET code_hash = 'of other code' WHERE configuration = 'WORK=64'");
    ASSERT_FALSE(stage_->choose_finalists().empty());
    measure({{64, 90}}, false);
    EXPECT_EQ(fake_.store.recall(searches_.front()->key(), work(64))->code_hash, code_hash(64));
    begin_again();
    EXPECT_TRUE(stage_->choose_finalists().empty());
}

TEST_F(LaterFinals, DecideAgainOnceANewTrialIsAmongTheFastest) {
    add(32, 99.9);
    EXPECT_EQ(stage_->choose_finalists().size(), 2U);
}

// The compiler has changed, and the loser of the finals was not verified with the new machine code. The loser's trial
// therefore keeps its old time and the hash of its old machine code.
TEST_F(FinalsStageTest, ATimeOfMachineCodeThatWasNeverVerifiedReplacesNone) {
    add(64, 100);
    ledger_->add(*searches_.front(), {.key = searches_.front()->key(),
                                      .configuration = work(48),
                                      .outcome = steady(101),
                                      .run = fake_.run->run_row,
                                      .verified_by = fake_.identity(),
                                      .code_hash = "of another compiler's"});
    measure({{64, 100}, {48, 200}});
    EXPECT_EQ(winner(), 64);
    const auto stored = fake_.store.recall(searches_.front()->key(), work(48));
    EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 101);
    EXPECT_EQ(stored->code_hash, "of another compiler's");
}

TEST_F(FinalsStageTest, ASoleFinalistWithOtherMachineCodeGetsTheTimeOfItsVerification) {
    add(64, 100);
    auto record = ledger_->by_cost().front()->record;
    record.code_hash = "of other code";
    ledger_->replace(*ledger_->by_cost().front(), record);
    measure({{64, 70}}, false);
    const auto stored = fake_.store.recall(searches_.front()->key(), work(64));
    EXPECT_EQ(stored->code_hash, code_hash(64));
    EXPECT_EQ(stored->toolchain, "fake 1");
    EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 70);
}

TEST_F(FinalsStageTest, AStoredWinnerOfAnotherOperationDoesNotStand) {
    fake_.store.remember({.key = searches_.front()->key(),
                          .configuration = work(1),
                          .outcome = steady(50),
                          .run = 1,
                          .verified_by = "another operation/testbed"});
    fake_.store.set_winner(searches_.front()->key(), work(1), std::nullopt);
    add(64, 100);
    measure({{64, 100}});
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=64");
}

TEST_F(FinalsStageTest, AFasterStoredWinnerThatIsNotKnownHereStands) {
    fake_.store.remember({.key = searches_.front()->key(),
                          .configuration = work(1),
                          .outcome = steady(50),
                          .run = 1,
                          .verified_by = fake_.identity()});
    fake_.store.set_winner(searches_.front()->key(), work(1), std::nullopt);
    add(64, 100);
    add(48, 101);
    measure({{64, 100}, {48, 101}});
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=1");
}

}  // namespace
}  // namespace smemtune
