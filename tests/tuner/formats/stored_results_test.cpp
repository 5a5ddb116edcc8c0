#include "tuner/formats/stored_results.h"

#include <gmock/gmock.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;

// Uses a database with trials of one template at one problem.
class StoredResults : public ::testing::Test {
protected:
    void add(std::int64_t tile, const Outcome& outcome, const std::string& hash = "a hash") {
        store.remember(TrialRecord{
            .key = {store.remember(model_device("sm_90")), store.remember(TemplateRecord{"tiled", "gemm", hash, {}}),
                    store.remember(gemm(64, 32, 16))},
            .configuration = {{{"TILE_WIDTH", tile}}},
            .outcome = outcome,
            .compile_ms = 1.5,
            .verify_ms = 2.5,
            .time_ms = 3.5});
    }
    [[nodiscard]] std::vector<TuningResults> results() const { return stored_results(store, store.rows({})); }
    [[nodiscard]] Fields entry_of(const Outcome& outcome) {
        add(8, outcome);
        return results().at(0).entries.at(0);
    }

    Scratch scratch;
    Store store{scratch / "stored.db"};
};

TEST_F(StoredResults, AMeasurementHasItsTimesInMillisecondsAndWhatIsKnownOfIt) {
    const auto entry = entry_of(Measurement{
        .median_us = 1500, .samples_us = {1000, 2000}, .cut_short = true, .clock_khz = 1'980'000, .energy_uj = 7});
    EXPECT_EQ(entry.at("TILE_WIDTH"), 8);
    EXPECT_EQ(entry.at("time"), 1.5);
    EXPECT_THAT(entry.at("times"), ElementsAre(1, 2));
    EXPECT_EQ(entry.at("cut_short"), 1);
    EXPECT_EQ(entry.at("clock_khz"), 1'980'000);
    EXPECT_EQ(entry.at("energy_uj"), 7);
    EXPECT_EQ(entry.at("compile_time"), 1.5);
    EXPECT_EQ(entry.at("verification_time"), 2.5);
    EXPECT_EQ(entry.at("benchmark_time"), 3.5);
    EXPECT_THAT(entry.at("timestamp").get<std::string>(), ::testing::EndsWith("+00:00"));
}

TEST_F(StoredResults, WhatIsUnknownOfAMeasurementIsLeftOut) {
    const auto entry = entry_of(Measurement{.median_us = 1500, .samples_us = {1500}});
    for (const auto* name : {"cut_short", "clock_khz", "energy_uj", "__error__", "invalidity"}) {
        EXPECT_FALSE(entry.contains(name)) << name;
    }
}

TEST_F(StoredResults, ARejectionHasTheNamesOfBothFormatsAndItsReason) {
    for (const auto& [stage, kernel_tuner, t4] : {std::tuple{Stage::limits, "InvalidConfig", "constraints"},
                                                  {Stage::compile, "CompilationFailedConfig", "compile"},
                                                  {Stage::launch, "RuntimeFailedConfig", "runtime"},
                                                  {Stage::wrong, "RuntimeFailedConfig", "correctness"},
                                                  {Stage::crash, "RuntimeFailedConfig", "runtime"},
                                                  {Stage::timeout, "RuntimeFailedConfig", "timeout"}}) {
        const auto entry = entry_of(Rejection{stage, "why"});
        EXPECT_EQ(entry.at("time"), kernel_tuner);
        EXPECT_EQ(entry.at("__error__"), kernel_tuner);
        EXPECT_EQ(entry.at("invalidity"), t4);
        EXPECT_EQ(entry.at("stage"), to_text(stage));
        EXPECT_EQ(entry.at("reason"), "why");
    }
}

TEST_F(StoredResults, OfSeveralVersionsOfATemplateTheOneThatWasTriedLastCounts) {
    add(8, Measurement{.median_us = 1, .samples_us = {1}}, "an earlier hash");
    std::this_thread::sleep_for(5ms);  // the date of the next trial, in milliseconds, must be later
    add(16, Measurement{.median_us = 2, .samples_us = {2}});
    add(32, Measurement{.median_us = 3, .samples_us = {3}});
    ASSERT_EQ(results().size(), 1U);
    const auto only = results().at(0);
    EXPECT_EQ(only.header["template_hash"], "a hash");
    EXPECT_EQ(only.header["tune_params"]["TILE_WIDTH"], (Fields{16, 32}));
    EXPECT_EQ(only.header["problem_size"], (Fields{64, 32, 16}));
    EXPECT_EQ(only.entries.size(), 2U);
}

}  // namespace
}  // namespace smemtune
