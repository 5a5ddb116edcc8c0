#include "tuner/analysis/winner_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smemtune {
namespace {

using Verdict = SpeedChange::Verdict;

TrialRow winner_of(std::vector<double> samples_us) {
    TrialRow row;
    row.record.outcome =
        Measurement{.median_us = samples_us[samples_us.size() / 2], .samples_us = std::move(samples_us)};
    return row;
}

SpeedChange change_of(std::vector<double> first, std::vector<double> second) {
    return speed_change({.device = "",
                         .problem = {},
                         .first = winner_of(std::move(first)),
                         .second = winner_of(std::move(second))})
        .value();
}

TEST(SpeedChange, IsFasterOrSlowerOnlyIfTheWholeIntervalIsBeyondNoise) {
    EXPECT_EQ(change_of({10, 10, 10}, {5, 5, 5}).verdict, Verdict::faster);
    EXPECT_EQ(change_of({5, 5, 5}, {10, 10, 10}).verdict, Verdict::slower);
    EXPECT_EQ(change_of({100, 100, 100}, {99.5, 99.5, 99.5}).verdict, Verdict::equal) << "within 1 %";
    EXPECT_EQ(change_of({99.5, 99.5, 99.5}, {100, 100, 100}).verdict, Verdict::equal) << "within 1 %";
    EXPECT_EQ(change_of({8, 10, 12}, {7, 8, 9}).verdict, Verdict::equal) << "the samples overlap";
    EXPECT_EQ(change_of({7, 8, 9}, {8, 10, 12}).verdict, Verdict::equal) << "the samples overlap";
}

TEST(SpeedChange, TheIntervalSpansTheEndsOfBothIntervals) {
    const auto change = change_of({8, 10, 12}, {4, 5, 6});
    EXPECT_DOUBLE_EQ(change.ratio, 2);
    EXPECT_DOUBLE_EQ(change.low, 8.0 / 6);
    EXPECT_DOUBLE_EQ(change.high, 12.0 / 4);
}

TEST(SpeedChange, WithoutSamplesTheMediansAreCompared) {
    TrialRow row;
    row.record.outcome = Measurement{.median_us = 10};
    EXPECT_DOUBLE_EQ(speed_change({.device = "", .problem = {}, .first = row, .second = winner_of({5, 5, 5})})->low, 2);
}

TEST(SpeedChange, NeedsBothWinners) {
    EXPECT_FALSE(speed_change({.device = "", .problem = {}, .first = winner_of({1}), .second = {}}));
    EXPECT_FALSE(speed_change({.device = "", .problem = {}, .first = {}, .second = winner_of({1})}));
}

}  // namespace
}  // namespace smemtune
