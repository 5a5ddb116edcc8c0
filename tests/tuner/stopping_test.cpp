#include "tuner/stopping.h"

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

TEST(Stopping, AGainThatComesTooLateDoesNot) {
    Stopping stopping({.patience = 10, .persistence = 1});
    feed(stopping, 5, 11);
    feed(stopping, 4, 1);
    EXPECT_TRUE(stopping.gain_is_unlikely());
    EXPECT_EQ(stopping.best(), 4);
}

TEST(Stopping, AGainWithinTheNoiseIsNoneButSmallStepsAddUp) {
    const StoppingPolicy policy{.patience = 10, .persistence = 1, .gain = 0.01};
    Stopping noise(policy);
    feed(noise, 100, 6);
    feed(noise, 99.5, 5);
    EXPECT_TRUE(noise.gain_is_unlikely());
    EXPECT_EQ(noise.best(), 99.5) << "it is the best all the same";
    Stopping steps(policy);
    feed(steps, 100, 6);
    feed(steps, 99.5, 4);
    feed(steps, 98.9, 1);
    EXPECT_FALSE(steps.gain_is_unlikely()) << "1.1 % below the last gain, if in two steps";
}

TEST(Stopping, WhatWasFoundLateIsFollowedByAsLongASearch) {
    Stopping stopping({.patience = 10, .persistence = 2});
    for (int i = 1; i <= 100; ++i) feed(stopping, 300 - 2 * i, 1);
    feed(stopping, 300, 99);
    EXPECT_FALSE(stopping.gain_is_unlikely());
    feed(stopping, 300, 1);
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
