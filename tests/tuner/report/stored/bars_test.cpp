#include "tuner/report/stored/bars.h"

#include <gtest/gtest.h>

#include <array>

namespace smemtune {
namespace {

TEST(Bar, IsRoundedToAnEighthOfAColumn) {
    EXPECT_EQ(bar(0, 4), "");
    EXPECT_EQ(bar(1.0 / 32, 4), "▏");
    EXPECT_EQ(bar(0.5, 4), "██");
    EXPECT_EQ(bar(0.625, 4), "██▌");
    EXPECT_EQ(bar(1, 4), "████");
}

TEST(Bar, SharesBeyondTheAxisAreCut) {
    EXPECT_EQ(bar(1.7, 2), "██");
    EXPECT_EQ(bar(-1, 2), "");
}

TEST(Sparkline, HasAColumnForEachValue) { EXPECT_EQ(sparkline(std::array{0.0, 0.125, 0.5, 1.0, 2.0, -1.0}), " ▁▄██ "); }

}  // namespace
}  // namespace smemtune
