#include "tuner/report/trial_facts.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

TEST(TrialFacts, OnlyATrialThatTookLessTimeIsFasterThanTheWinner) {
    const Scratch scratch;
    Store store(scratch / "t.db");
    const TrialKey key{store.remember(model_device("sm_90")), store.remember(TemplateRecord{"tiled", "gemm", "1", {}}),
                       store.remember(gemm(64, 64, 64))};
    const auto remember = [&](std::int64_t width, double us) {
        store.remember(TrialRecord{.key = key,
                                   .configuration = {{{"TILE_WIDTH", width}}},
                                   .outcome = Measurement{.median_us = us, .samples_us = {us}},
                                   .verified_by = "operation/testbed"});
    };
    const auto faster_than_the_winner = [&] {
        return TrialReader(store).read(store.best(key.device, key.problem).value()).faster_trial;
    };
    remember(8, 10);
    remember(16, 10);
    store.set_winner(key, {{{"TILE_WIDTH", 8}}}, std::nullopt);
    EXPECT_EQ(faster_than_the_winner(), std::nullopt) << "neither itself nor another one as fast";
    remember(32, 9);
    EXPECT_EQ(faster_than_the_winner(), 3);
}

}  // namespace
}  // namespace smemtune
