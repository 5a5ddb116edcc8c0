#include "templates/space/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace smemtune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string configuration_refusal(std::string_view text) {
    try {
        return "reads " + to_text(parse_configuration(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(Configuration, HasOneSpellingSortedByName) {
    EXPECT_EQ(to_text({{{"TSZ_ROWS", 64}, {"TSZ_COLS", 16}, {"A", -1}}}), "A=-1,TSZ_COLS=16,TSZ_ROWS=64");
    EXPECT_EQ(to_text(Configuration{}), "");
}

TEST(Configuration, IsReadInAnyOrderAndWithSpaces) {
    EXPECT_EQ(to_text(parse_configuration(" TSZ_ROWS = 64 ,\tTSZ_COLS=16")), "TSZ_COLS=16,TSZ_ROWS=64");
    EXPECT_EQ(parse_configuration("B=2,A=-9223372036854775808"),
              (Configuration{{{"A", std::numeric_limits<std::int64_t>::min()}, {"B", 2}}}));
    EXPECT_EQ(parse_configuration(""), Configuration{});
    EXPECT_EQ(parse_configuration("  "), Configuration{});
}

TEST(Configuration, ReadsWhatItWrites) {
    const Configuration configuration{{{"PAD", 0}, {"TILE_WIDTH", 32}, {"X", -7}}};
    EXPECT_EQ(parse_configuration(to_text(configuration)), configuration);
}

TEST(Configuration, WhatIsNoAssignmentIsNamed) {
    for (const auto* item : {"TILE_WIDTH", "TILE_WIDTH=", "=16", "TILE_WIDTH=16x", "TILE_WIDTH=1.5.5", "TILE_WIDTH==16",
                             "TILE_WIDTH=16 PAD=1", "TILE_WIDTH=99999999999999999999", "TILE_WIDTH=+16"}) {
        const auto message = configuration_refusal(std::string("A=1, ") + item + ",B=2");
        EXPECT_THAT(message, StartsWith("configuration: '" + std::string(item) + "' is not NAME=VALUE"));
        EXPECT_THAT(message, HasSubstr("TILE_WIDTH=16,PAD=1"));
    }
    EXPECT_THAT(configuration_refusal("A=1,,B=2"), HasSubstr("''"));
}

TEST(Configuration, AParameterGivenTwiceIsAnError) {
    EXPECT_EQ(configuration_refusal("A=1,B=2,A=1"), "configuration: 'A' is given twice");
}

TEST(Configuration, WhatItLacksIsCompletedAndWhatItHasStays) {
    const auto defaults = parse_configuration("TILE_WIDTH=16,PAD=1");
    EXPECT_EQ(to_text(completed(parse_configuration("TILE_WIDTH=32"), defaults)), "PAD=1,TILE_WIDTH=32");
    EXPECT_EQ(to_text(completed(parse_configuration("OLD=3"), defaults)), "OLD=3,PAD=1,TILE_WIDTH=16");
}

}  // namespace
}  // namespace smemtune
