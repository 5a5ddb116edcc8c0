#include "tuner/analysis/timestamp.h"

#include <gtest/gtest.h>

namespace smemtune {

namespace {

TEST(MillisecondsOf, ATimestampOrZero) {
    EXPECT_EQ(milliseconds_of("1970-01-02T00:00:01.500Z"), 86'401'500);
    EXPECT_EQ(milliseconds_of("2026-11-23T01:30:35Z"), 1'795'397'435'000);
    for (const auto* text : {"", "2026-11-23", "2026-13-01T00:00:00Z", "soon"})
        EXPECT_EQ(milliseconds_of(text), 0) << text;
}

}  // namespace

}  // namespace smemtune
