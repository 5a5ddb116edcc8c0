#include "tuner/search/stopping.h"

#include <gtest/gtest.h>

#include <optional>

namespace smemtune {
namespace {

void feed(Stopping& stopping, double cost, int times) {
    for (int i = 0; i < times; ++i) stopping.add(cost);
}

TEST(Stopping, GainIsUnlikelyOnceItsPatienceIsUsedUp) {
    Stopping stopping({.patience = 10, .persistence = 1});
    feed(stopping, 5, 1);
    feed(stopping, 6, 9);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    feed(stopping, 6, 1);
    EXPECT_TRUE(stopping.gain_is_unlikely());
}

TEST(Stopping, AGainStartsItAgain) {
    Stopping stopping({.patience = 10, .persistence = 1});
    feed(stopping, 5, 10);
    feed(stopping, 4, 10);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    EXPECT_EQ(stopping.best(), 4);
}

TEST(Stopping, ItIsKnownThatGainWasUnlikelyBeforeALateOne) {
    Stopping stopping({.patience = 10, .persistence = 1});
    feed(stopping, 5, 10);
    EXPECT_FALSE(stopping.gain_was_unlikely());
    feed(stopping, 5, 1);
    feed(stopping, 4, 1);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    EXPECT_TRUE(stopping.gain_was_unlikely());
}

TEST(Stopping, AGainWithinTheNoiseIsNoneButSmallStepsAddUp) {
    Stopping stopping({.patience = 10, .persistence = 1, .gain = 0.01});
    feed(stopping, 100, 6);
    feed(stopping, 99.5, 5);
    EXPECT_TRUE(stopping.gain_is_unlikely());
    EXPECT_EQ(stopping.best(), 99.5) << "it is the best all the same";
    feed(stopping, 98.9, 1);
    EXPECT_FALSE(stopping.gain_is_unlikely()) << "1.1 % below the last gain, if in two steps";
}

TEST(Stopping, WhatWasFoundLateIsFollowedByAsLongASearch) {
    Stopping stopping({.patience = 10, .persistence = 2});
    feed(stopping, 5, 99);
    feed(stopping, 4, 1);
    feed(stopping, 5, 99);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    feed(stopping, 5, 1);
    EXPECT_TRUE(stopping.gain_is_unlikely());
}

TEST(Stopping, RejectionsUsePatienceUpButNeverBeforeAnythingWasRight) {
    Stopping stopping({.patience = 10, .persistence = 1});
    for (int i = 0; i < 100; ++i) stopping.add(std::nullopt);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    stopping.add(1);
    for (int i = 0; i < 10; ++i) stopping.add(std::nullopt);
    EXPECT_TRUE(stopping.gain_is_unlikely());
    EXPECT_EQ(stopping.evaluations(), 111U);
}

// The test computes the rule independently. If the last gain came at evaluation n, a gain is unlikely from evaluation
// max(n + `patience`, n * `persistence`) on.
TEST(Stopping, AgreesWithTheRuleForAnyCosts) {
    unsigned state = 7;
    const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 16U; };
    for (const auto& policy : {StoppingPolicy{.patience = 5, .persistence = 1, .gain = 0},
                               StoppingPolicy{.patience = 3, .persistence = 2, .gain = 0.1},
                               StoppingPolicy{.patience = 1, .persistence = 1.5, .gain = 0.5}}) {
        Stopping stopping(policy);
        std::optional<double> best;
        std::optional<double> to_beat;
        std::size_t found_at = 0;
        bool was_unlikely = false;
        for (std::size_t count = 1; count <= 300; ++count) {
            std::optional<double> cost;
            if (random() % 4 != 0) cost = 1.0 + static_cast<double>(random() % 1000) / static_cast<double>(count);
            stopping.add(cost);
            if (cost && (!best || *cost < *best)) best = cost;
            if (cost && (!to_beat || *cost < *to_beat * (1 - policy.gain))) {
                to_beat = cost;
                found_at = count;
            }
            const bool unlikely = best && count - found_at >= policy.patience &&
                                  static_cast<double>(count) >= policy.persistence * static_cast<double>(found_at);
            was_unlikely = was_unlikely || unlikely;
            ASSERT_EQ(stopping.gain_is_unlikely(), unlikely) << count;
            ASSERT_EQ(stopping.gain_was_unlikely(), was_unlikely) << count;
            ASSERT_EQ(stopping.best(), best) << count;
            ASSERT_EQ(stopping.evaluations(), count);
        }
    }
}

}  // namespace
}  // namespace smemtune
