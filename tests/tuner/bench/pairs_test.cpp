#include "tuner/bench/pairs.h"

#include <gtest/gtest.h>

#include <tuple>

namespace smemtune {
namespace {

constexpr std::int64_t full = 1'980'000;
constexpr std::int64_t sagging = 1'900'000;  // 4 % below `full`

// Adds `count` pairs, whose ratios are evenly spaced from `ratio - noise` to `ratio + noise`.
void add(Pairs& pairs, int count, double ratio, double noise = 0, std::int64_t clock_khz = full, double us = 100) {
    for (int i = 0; i < count; ++i) {
        const auto wander = noise * (count == 1 ? 0 : 2.0 * i / (count - 1) - 1);
        pairs.add({.ours_us = us, .theirs_us = us * (ratio + wander), .clock_khz = clock_khz}, 2 * us);
    }
}

TEST(Pairs, TheRatioIsTheirTimeOverOurs) {
    Pairs pairs({});
    add(pairs, 30, 1.25);
    const auto ratio = pairs.result();
    EXPECT_DOUBLE_EQ(ratio.median, 1.25);
    EXPECT_EQ(std::tuple(ratio.low, ratio.high), std::tuple(1.25, 1.25)) << "ties";
    EXPECT_DOUBLE_EQ(ratio.ours_us, 100);
    EXPECT_DOUBLE_EQ(ratio.theirs_us, 125);
    EXPECT_EQ(ratio.pairs, 30U);
    EXPECT_EQ(ratio.dropped, 0U);
    EXPECT_EQ(ratio.clock_khz, full);
}

TEST(Pairs, ADriftThatMeetsBothAlikeLeavesTheRatioAlone) {
    Pairs pairs({});
    for (int i = 0; i < 30; ++i) pairs.add({.ours_us = 100.0 + 3 * i, .theirs_us = 110 + 3.3 * i}, 1);
    EXPECT_DOUBLE_EQ(pairs.result().median, 1.1);
    EXPECT_LT(pairs.result().high - pairs.result().low, 1e-12);
}

TEST(Pairs, AFewOutliersMoveNeitherTheMedianNorItsInterval) {
    Pairs pairs({});
    add(pairs, 27, 1.0);
    add(pairs, 3, 50.0);
    const auto ratio = pairs.result();
    EXPECT_EQ(std::tuple(ratio.median, ratio.low, ratio.high), std::tuple(1.0, 1.0, 1.0));
}

TEST(Pairs, TheIntervalOfThirtyPairsRunsFromTheTenthToTheTwentyFirst) {
    Pairs pairs({});
    for (int i = 1; i <= 30; ++i) pairs.add({.ours_us = 100, .theirs_us = 100.0 + i}, 1);
    EXPECT_DOUBLE_EQ(pairs.result().low, 1.10);
    EXPECT_DOUBLE_EQ(pairs.result().high, 1.21);
    EXPECT_DOUBLE_EQ(pairs.result().median, 1.155);
}

TEST(Pairs, ThoseTakenWhileTheClockSagsAreDroppedAndCounted) {
    Pairs pairs({});
    add(pairs, 10, 1.1);
    add(pairs, 12, 3.0, 0, sagging);
    add(pairs, 10, 1.1);
    const auto ratio = pairs.result();
    EXPECT_DOUBLE_EQ(ratio.median, 1.1);
    EXPECT_DOUBLE_EQ(ratio.high, 1.1);
    EXPECT_EQ(ratio.pairs, 20U);
    EXPECT_EQ(ratio.dropped, 12U);
    EXPECT_EQ(ratio.clock_khz, full);
}

TEST(Pairs, ThoseWhoseClockIsNotKnownCount) {
    Pairs pairs({});
    add(pairs, 10, 1.1);
    add(pairs, 10, 1.1, 0, 0);
    EXPECT_EQ(pairs.result().pairs, 20U);
    EXPECT_EQ(pairs.result().dropped, 0U);
}

TEST(Pairs, WhatIsDroppedIsNotEnough) {
    Pairs pairs({});
    add(pairs, 25, 1.1);
    add(pairs, 10, 1.1, 0, sagging);
    EXPECT_FALSE(pairs.finished()) << "25 of 35 count";
    add(pairs, 5, 1.1);
    EXPECT_TRUE(pairs.finished());
}

TEST(Pairs, AClockThatIsLowAllTheTimeIsTheUsualOne) {
    Pairs pairs({});
    add(pairs, 30, 1.1, 0, sagging);
    EXPECT_EQ(pairs.result().dropped, 0U);
    EXPECT_EQ(pairs.result().clock_khz, sagging) << "and is told";
}

TEST(Pairs, AClockThatWandersByLessThanTwoPercentIsNoSag) {
    Pairs pairs({});
    for (int i = 0; i < 30; ++i) add(pairs, 1, 1.1, 0, i % 2 == 0 ? full : 1'950'000);
    EXPECT_EQ(pairs.result().dropped, 0U);
}

TEST(Pairs, AnUnknownClockDropsNothing) {
    Pairs pairs({});
    add(pairs, 30, 1.1, 0, 0);
    EXPECT_EQ(std::tuple(pairs.result().pairs, pairs.result().dropped, pairs.result().clock_khz),
              std::tuple(30U, 0U, 0));
}

TEST(Pairs, FewAreEnoughForAnEvenRatioAndManyForAWildOne) {
    const auto needed = [](double noise) {
        Pairs pairs({.least = 30, .most = 120});
        int count = 0;
        // The ratio alternates between 1 - noise and 1 + noise.
        for (; !pairs.finished(); ++count) add(pairs, 1, count % 2 == 0 ? 1 - noise : 1 + noise);
        return count;
    };
    EXPECT_EQ(needed(0), 30);
    EXPECT_EQ(needed(0.002), 30) << "narrower than half a percent";
    EXPECT_EQ(needed(0.1), 120);
}

TEST(Pairs, LongOnesEndWhenTheTimeIsUpButNotBeforeThereIsAnInterval) {
    Pairs pairs({.least = 30, .longest_us = 1000});
    int count = 0;
    for (; !pairs.finished(); ++count) add(pairs, 1, 1.1, 0, full, 900);
    EXPECT_EQ(count, 6);
}

TEST(Pairs, WhenTheTimeIsUpSixMustCountAndNotJustBeTaken) {
    Pairs pairs({.least = 30, .longest_us = 1000});
    add(pairs, 2, 1.1, 0, sagging, 900);
    add(pairs, 5, 1.1, 0, full, 900);
    EXPECT_FALSE(pairs.finished()) << "5 of 7 count";
    add(pairs, 1, 1.1, 0, full, 900);
    EXPECT_TRUE(pairs.finished());
    EXPECT_EQ(pairs.result().pairs, least_for_interval);
}

TEST(Pairs, FewerThanGiveAnIntervalAreNeverEnough) {
    Pairs pairs({.least = 1, .most = 4});
    add(pairs, 5, 1.1);
    EXPECT_FALSE(pairs.finished());
    add(pairs, 1, 1.1);
    EXPECT_TRUE(pairs.finished());
}

TEST(Pairs, AClockThatFallsWithoutEndDoesNotKeepThemFromEnding) {
    Pairs pairs({.least = 30, .longest_us = 1000});
    double clock_khz = 1e12;
    int count = 0;
    for (; !pairs.finished() && count < 100; ++count) {
        add(pairs, 1, 1.1, 0, static_cast<std::int64_t>(clock_khz), 900);
        clock_khz *= 0.9;
    }
    EXPECT_LE(count, 24) << "a quarter counts";
    EXPECT_EQ(pairs.result().pairs, least_for_interval);
}

TEST(Pairs, AreNotFinishedBeforeTheyBegin) { EXPECT_FALSE(Pairs({}).finished()); }

}  // namespace
}  // namespace smemtune
