#include "tuner/search/stopping.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace smemtune
