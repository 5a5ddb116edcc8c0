#include "tuner/trial/pruning_policy.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

TEST(PruningPolicy, TheFirstLaunchMayBeColdAndLoadedLate) {
    EXPECT_DOUBLE_EQ(pruning::first_launch_limit_us(1.25, 1000), 1.1 * 1.25 * 1000 + 2000);
}

TEST(PruningPolicy, ANoisyBestAdmitsMoreFinalistsWithinBounds) {
    const auto limit = [](double spread_us) {
        return pruning::finals_limit({.median_us = 100, .spread_us = spread_us, .samples_us = {}});
    };
    EXPECT_DOUBLE_EQ(limit(0), 1.02);
    EXPECT_DOUBLE_EQ(limit(0.5), 1.04);
    EXPECT_DOUBLE_EQ(limit(5), 1.05);
}

// A candidate whose sampling was cut short must stay ruled out in a later run with the same best time.
TEST(PruningPolicy, WhatIsCutShortIsRuledOutLater) {
    EXPECT_LT(pruning::slow_stored_candidate, pruning::slow_candidate);
}

}  // namespace
}  // namespace smemtune
