#include "tuner/portfolio/entries.h"

#include <gmock/gmock.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Trials of tests/fixtures/work at two samples.
class PortfolioEntries : public ::testing::Test {
protected:
    PortfolioEntries() { (void)fake_.start(); }

    [[nodiscard]] TrialRecord trial(const Problem& problem, std::int64_t value, double us) {
        const auto& kernel = fake_.request.templates.front();
        const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files};
        return {.key = {fake_.run->device_row, fake_.store.remember(record, default_configuration(kernel)),
                        fake_.store.remember(problem)},
                .configuration = work(value),
                .outcome = steady(us),
                .resources = {.registers = 40},
                .verified_by = identity,
                .code_hash = "code of " + std::to_string(value),
                .toolchain = toolchain};
    }
    void know(std::int64_t value, double us, const Problem& problem = transpose(16)) {
        fake_.store.remember(trial(problem, value, us));
    }
    [[nodiscard]] std::vector<Entry> entries() const {
        return collect_entries({.resources = fake_.resources,
                                .samples = samples,
                                .templates = fake_.request.templates,
                                .device_row = fake_.run->device_row,
                                .identity = identity,
                                .toolchain = toolchain});
    }
    [[nodiscard]] std::vector<std::int64_t> values() const {
        std::vector<std::int64_t> result;
        for (const auto& entry : entries()) result.push_back(entry.configuration.values.at("WORK"));
        return result;
    }

    const std::string identity = "operation/testbed";
    const std::string toolchain = "fake 1";
    const std::vector<Sample> samples{{transpose(16)}, {transpose(32)}};
    FakeRun fake_;
};

TEST_F(PortfolioEntries, AreTheFastestFourOfASampleThatTakeAtMost15PercentLonger) {
    for (const auto& [value, us] : {std::pair{1, 100.0}, {4, 116}, {8, 114}, {12, 101}}) know(value, us);
    EXPECT_THAT(values(), ElementsAre(1, 12, 8));
    for (const auto& [value, us] : {std::pair{16, 102.0}, {24, 103}}) know(value, us);
    EXPECT_THAT(values(), ElementsAre(1, 12, 16, 24));
}

TEST_F(PortfolioEntries, KnowWhereTheyWereFoundAndWhereTheyWon) {
    for (const auto& [value, us] : {std::pair{1, 100.0}, {4, 101}}) know(value, us);
    for (const auto& [value, us] : {std::pair{4, 200.0}, {8, 201}}) know(value, us, transpose(32));
    know(12, 1, transpose(64));  // transpose(64) is no sample
    const auto found = entries();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_THAT(values(), ElementsAre(1, 4, 8));
    EXPECT_THAT(found[0].found, ElementsAre(0));
    EXPECT_THAT(found[0].won, ElementsAre(0));
    EXPECT_THAT(found[1].found, ElementsAre(0, 1));
    EXPECT_THAT(found[1].won, ElementsAre(1));
    EXPECT_THAT(found[2].found, ElementsAre(1));
    EXPECT_THAT(found[2].won, IsEmpty());
    EXPECT_EQ(found[1].code_hash, "code of 4");
}

TEST_F(PortfolioEntries, AreNotMadeOfTimesThatSayTooLittle) {
    know(1, 100);
    const auto without = [&](std::int64_t value, const std::function<void(TrialRecord&)>& change) {
        auto record = trial(transpose(16), value, 90);
        change(record);
        fake_.store.remember(record);
    };
    without(4, [](TrialRecord& its) { std::get<Measurement>(its.outcome).cut_short = true; });
    without(8, [](TrialRecord& its) { its.code_hash.clear(); });
    without(12, [](TrialRecord& its) { its.toolchain = "fake 0"; });
    without(16, [](TrialRecord& its) { its.verified_by = "another operation/testbed"; });
    without(24, [](TrialRecord& its) { its.outcome = Rejection{Stage::wrong, "C[0,0] is nan"}; });
    EXPECT_THAT(values(), ElementsAre(1));
    without(32, [](TrialRecord& its) { its.verified_by.clear(); });
    EXPECT_THAT(values(), ElementsAre(32, 1)) << "cross-timing verifies it";
}

TEST_F(PortfolioEntries, OfEqualMachineCodeTheFasterOneCounts) {
    know(1, 100);
    auto same_code = trial(transpose(16), 4, 99);
    same_code.code_hash = "code of 1";
    fake_.store.remember(same_code);
    EXPECT_THAT(values(), ElementsAre(4));
}

}  // namespace
}  // namespace smemtune
