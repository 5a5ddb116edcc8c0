#include "tuner/problem/finals_stage.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

class FinalsStageTest : public ::testing::Test {
protected:
    void SetUp() override {
        (void)fake_.start();
        searches_ = fake_.searches();
        ledger_.emplace(*fake_.run, fake_.problem());
        stage_.emplace(*fake_.run, fake_.problem(), searches_, *ledger_);
    }
    void add(std::int64_t value, double us, double spread_us = 0) {
        auto measurement = steady(us);
        measurement.spread_us = spread_us;
        ledger_->add(*searches_.front(), {.key = searches_.front()->key(),
                                          .configuration = work(value),
                                          .outcome = measurement,
                                          .run = fake_.run->run_row});
    }
    // Performs the finals; each WORK takes the time in `us`.
    void measure(const std::map<std::int64_t, double>& us) {
        stage_->start(stage_->choose_finalists());
        ASSERT_TRUE(soon([&] { return !stage_->is_compiling(); }));
        while (auto task = stage_->next(1)) {
            std::vector<Outcome> outcomes;
            for (const auto& each : task->candidates) {
                outcomes.emplace_back(steady(us.at(each.configuration.values.at("WORK"))));
            }
            stage_->finish(*task, outcomes);
        }
        EXPECT_TRUE(stage_->is_over());
    }
    [[nodiscard]] std::int64_t winner() const { return stage_->winner()->record.configuration.values.at("WORK"); }

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

TEST_F(FinalsStageTest, AFasterStoredWinnerThatIsNotKnownHereStands) {
    fake_.store.remember({.key = searches_.front()->key(), .configuration = work(1), .outcome = steady(50), .run = 1});
    fake_.store.set_winner(searches_.front()->key(), work(1), std::nullopt);
    add(64, 100);
    add(48, 101);
    measure({{64, 100}, {48, 101}});
    EXPECT_EQ(winners_in(fake_.scratch / "t.db").at(0), "transpose f32 16x16 work WORK=1");
}

}  // namespace
}  // namespace smemtune
