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
        return ledger_.emplace(*fake_.run, fake_.problem());
    }
    [[nodiscard]] TemplateSearch& search() { return *searches_.front(); }
    [[nodiscard]] TrialRecord record(std::int64_t value, Outcome outcome) {
        return {.key = search().key(), .configuration = work(value), .outcome = std::move(outcome), .run = 1};
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

// A candidate that was cut short is ruled out only by a complete measurement that is clearly faster.
TEST_F(TrialLedgerTest, RecallsCutShortTrialsOnlyWhenTheyAreRuledOut) {
    auto& ledger = this->ledger();
    store(64, cut_short(110));
    store(48, cut_short(121));
    EXPECT_FALSE(ledger.recall(search(), work(48))) << "nothing complete is known";
    store(32, steady(100));
    ledger.load(searches_);
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
    auto other_argument = input;
    other_argument.launch.runtime_arguments = {2};
    EXPECT_EQ(ledger.equal_code(other_argument), nullptr);
    auto other_code = input;
    other_code.binary.code = {1, 3};
    EXPECT_EQ(ledger.equal_code(other_code), nullptr);
}

TEST_F(TrialLedgerTest, AReplacedOutcomeIsStored) {
    auto& ledger = this->ledger();
    ledger.add(search(), record(64, steady(200)));
    ledger.replace(*ledger.by_cost().front(), steady(190));
    const auto stored = fake_.store.recall(search().key(), work(64));
    ASSERT_TRUE(stored);
    EXPECT_EQ(std::get<Measurement>(stored->outcome).median_us, 190);
    EXPECT_EQ(stored->run, fake_.run->run_row);
}

}  // namespace
}  // namespace smemtune
