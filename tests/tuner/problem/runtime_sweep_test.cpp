#include "tuner/problem/runtime_sweep.h"

#include <gmock/gmock.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

Configuration grouped(int backwards, int group, int threads) {
    return {{{"BACKWARDS", backwards}, {"GROUP", group}, {"THREADS", threads}}};
}

class RuntimeSweep : public ::testing::Test {
protected:
    void SetUp() override {
        fake_.request.templates = load_templates(read_sources(fixture("grouped")));
        fake_.request.problems = {{.operation = "grouping", .type = "f32", .layout = "", .extents = {{"N", 64}}}};
        (void)fake_.start();
        searches_ = fake_.searches();
        ledger_.emplace(*fake_.run, fake_.problem(), fake_.identity());
    }
    void add(const Configuration& configuration, double us) {
        ledger_->add(*searches_.front(),
                     {.key = searches_.front()->key(), .configuration = configuration, .outcome = steady(us)});
    }
    std::vector<std::string> swept(bool transferred = false) {
        std::vector<std::string> texts;
        for (const auto& each : sweep_candidates(*ledger_, fake_.problem(), fake_.device, transferred)) {
            texts.push_back(to_text(each.configuration));
        }
        return texts;
    }

    FakeRun fake_;
    TemplateSearches searches_;
    std::optional<TrialLedger> ledger_;
};

// BACKWARDS=1 is valid only with GROUP=2.
TEST_F(RuntimeSweep, VariantsAreTheOtherValidCombinations) {
    const auto variants =
        runtime_variants(fake_.request.templates.front(), grouped(0, 4, 64), fake_.problem(), fake_.device);
    EXPECT_THAT(variants, ::testing::UnorderedElementsAre(grouped(0, 2, 64), grouped(1, 2, 64), grouped(0, 8, 64)));
}

TEST_F(RuntimeSweep, TheFastestComesFirstAndNothingIsTriedTwice) {
    add(grouped(0, 4, 32), 200);
    add(grouped(0, 4, 64), 100);
    add(grouped(0, 8, 64), 300);
    const auto texts = swept();
    ASSERT_EQ(texts.size(), 5U);
    EXPECT_THAT(texts[0], ::testing::HasSubstr("THREADS=64"));
    EXPECT_THAT(texts, ::testing::Not(::testing::Contains(to_text(grouped(0, 8, 64)))));
}

TEST_F(RuntimeSweep, ATransferSweepsTransferredTrialsAlone) {
    add(grouped(0, 4, 32), 100);
    EXPECT_TRUE(swept(true).empty());
    ledger_->begin_transfer();
    add(grouped(0, 4, 64), 200);
    EXPECT_EQ(swept(true).size(), 3U);
}

TEST_F(RuntimeSweep, TriesVariantsOfTheFourFastestAlone) {
    auto& threads = fake_.request.templates.front().parameters.at(1);
    ASSERT_EQ(threads.name, "THREADS");
    threads.values = {32, 64, 96, 128, 160};
    (void)fake_.start();
    searches_ = fake_.searches();
    for (const auto value : {32, 64, 96, 128, 160}) add(grouped(0, 4, value), 100 + value);
    const auto texts = swept();
    EXPECT_EQ(texts.size(), 4U * 3U);
    for (const auto& text : texts) EXPECT_EQ(text.find("THREADS=160"), std::string::npos) << text;
}

}  // namespace
}  // namespace smemtune
