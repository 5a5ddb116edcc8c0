#include "templates/space/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "templates/space/configuration.h"

namespace smemtune {
namespace {

TEST(Value, TextsOfTheseKindsAreValues) {
    for (const auto* text : {"a", "Z", "_", ":", "float4", "std::plus<float>", "a b", "x+y*z", "0.5", "1e3", "-0.5",
                             "2.5e-7", "a/b", "z{}|~", "f(1;2)", "inf"}) {
        EXPECT_TRUE(is_value_text(text)) << text;
    }
    for (const auto* text : {"",    " ",   "a ",   " a",  "1",    "-1",   "12x",  "+0.5", "1.5.5", "0x1.8p1",
                             "a,b", "a=b", "a\"b", "a'b", "a\\b", "a//b", "a/*b", "a\tb", "a\x7f", "a\xc3\xa4",
                             "1e",  ".",   "@a",   "[a",  "`a",   "{a",   "/a",   "~",    "0.5 "}) {
        EXPECT_FALSE(is_value_text(text)) << text;
    }
}

TEST(Value, ATextHasTheSameNumberInEveryProcessAndIsNoNumberOfAParameter) {
    // This number stands for this text in databases and other processes, so it must never change.
    EXPECT_EQ(text_value("float4"), -2569011788753943719LL);
    for (const auto* text : {"", "a", "0.5", "float4", "row_major"}) {
        const auto value = text_value(text);
        EXPECT_TRUE(is_text_value(value)) << text;
        EXPECT_LT(value, -(std::int64_t{1} << 61)) << text;
        EXPECT_GE(value, -(std::int64_t{1} << 62)) << text;
        EXPECT_EQ(value_text(value), text);
        EXPECT_EQ(text_value(text), value) << "again";
    }
}

TEST(Value, NumbersAreTextsOfThemselvesUpToTheBorder) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-7}, std::numeric_limits<std::int64_t>::max(), -(std::int64_t{1} << 61)}) {
        EXPECT_FALSE(is_text_value(value));
        EXPECT_EQ(value_text(value), std::to_string(value));
    }
    EXPECT_TRUE(is_text_value(-(std::int64_t{1} << 61) - 1));
    EXPECT_EQ(value_text(-(std::int64_t{1} << 61) - 18), "text18") << "of another process";
}

TEST(Value, ConfigurationsReadAndWriteTexts) {
    const auto configuration = parse_configuration("T = float4, F=0.5 ,ON=true,OFF=false,N=-3");
    EXPECT_EQ(to_text(configuration), "F=0.5,N=-3,OFF=0,ON=1,T=float4");
    EXPECT_EQ(parse_configuration(to_text(configuration)), configuration);
}

TEST(Value, OfTwoConfigurationsTheDifferenceIsWhatTheFirstHasOtherwise) {
    const auto defaults = parse_configuration("A=1,B=2,C=3");
    EXPECT_EQ(to_text(differing(parse_configuration("A=1,B=7,D=3"), defaults)), "B=7,D=3");
    EXPECT_EQ(to_text(differing(defaults, defaults)), "");
    EXPECT_EQ(to_text(differing(defaults, {})), "A=1,B=2,C=3");
}

}  // namespace
}  // namespace smemtune
